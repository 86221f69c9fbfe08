"""Paying wallets out: what is refused, what is set aside, and what becomes of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.core import mail as outbox
from django.core.management import CommandError
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import Problem
from marketplace.core.models import AuditEntry
from marketplace.operations.personal_data import export_account
from marketplace.review import claims
from tests.callers import said
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet import bounds
from wallet.models import Journal, LedgerAccount, Transfer, WalletPayout
from wallet.selectors import wallet_of
from wallet.services.digests import digest_ledger
from wallet.services.refunds import refund_order
from wallet.services.wallet_payouts import cancel_wallet_payout, pay_wallet_payout, refuse_wallet_payout

from .wallet_payout_cases import DETAILS, requested_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def refused(deed: Callable[[], Any]) -> str:
    with pytest.raises(Problem) as excinfo, transaction.atomic():
        deed()
    return excinfo.value.code


@contextmanager
def later(**by: int) -> Iterator[None]:
    with patch.object(timezone, "now", return_value=timezone.now() + timedelta(**by)):
        yield


def held(user: User, currency: str = "INR") -> int:
    return sum(LedgerAccount.objects.filter(kind="held", owner=user, currency=currency).values_list("balance_minor", flat=True))


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("password_required", {"password_confirmed": False}),
        ("invalid_input", {"payment_details": " \n "}),
        ("invalid_input", {"payment_details": "x" * (bounds.BANK_DETAILS_CHARS + 1)}),
        ("invalid_input", {"payment_details": "IBAN\0"}),
        ("invalid_amount", {"amount_minor": 0}),
        ("invalid_amount", {"currency": "EUR"}),
        ("invalid_amount", {"currency": "USD"}),
        ("insufficient_balance", {"currency": "USD", "amount_minor": 1}),
        ("insufficient_balance", {"amount_minor": 2**62}),
    ],
)
def test_invalid_payout_request_is_refused_and_moves_nothing(code: str, given: dict[str, Any]) -> None:
    user = funded(inr=50_000)
    assert refused(lambda: requested_payout(user, **given)) == code
    assert (wallet_of(user).balance_inr_minor, held(user)) == (50_000, 0)
    assert not WalletPayout.objects.exists()


def test_only_the_owner_asks_for_a_payout_and_cancels_it() -> None:
    user = funded(inr=50_000)
    assert refused(lambda: requested_payout(user, actor=UserFactory())) == "not_found"
    wallet_payout = requested_payout(user, 1, payment_details="x" * bounds.BANK_DETAILS_CHARS)
    assert refused(lambda: cancel_wallet_payout(wallet_payout=wallet_payout, actor=UserFactory(is_superuser=True))) == "not_found"
    cancel_wallet_payout(wallet_payout=wallet_payout, actor=user)


def test_second_payout_request_of_a_wallet_is_refused_while_one_is_open() -> None:
    user, other = funded(inr=50_000, usd=700), funded(inr=100)
    first = requested_payout(user, 20_000)
    assert refused(lambda: requested_payout(user, 1)) == "payout_open"
    assert refused(lambda: requested_payout(user, 1_000_000)) == "payout_open"
    requested_payout(user, currency="USD"), requested_payout(other)
    cancel_wallet_payout(wallet_payout=first, actor=user)
    assert requested_payout(user).amount_minor == 50_000


def test_wallet_has_ten_payout_requests_a_day_at_most() -> None:
    user = funded(inr=50_000, usd=700)
    for _ in range(bounds.WALLET_PAYOUTS_A_DAY):
        cancel_wallet_payout(wallet_payout=requested_payout(user, 1), actor=user)
    assert refused(lambda: requested_payout(user, 1)) == "too_many_payouts"
    requested_payout(user, currency="USD")
    with later(days=1, seconds=1):
        assert requested_payout(user, 1).status == "Waiting"


def test_owner_cannot_cancel_a_payout_that_staff_have_claimed() -> None:
    user, staff = funded(inr=50_000), UserFactory()
    wallet_payout = requested_payout(user)
    claims.claim(row=wallet_payout, waiting=WalletPayout.objects.all(), own=False, noun="wallet_payout", actor=staff)
    with pytest.raises(Problem, match="Our staff are working on it") as excinfo:
        cancel_wallet_payout(wallet_payout=wallet_payout, actor=user)
    assert excinfo.value.code == "invalid_transition"
    # A claim that nobody came back to ends by itself.
    WalletPayout.objects.filter(pk=wallet_payout.pk).update(claimed_at=claims.claims_valid_since())
    assert cancel_wallet_payout(wallet_payout=wallet_payout, actor=user).status == "Cancelled"
    again = requested_payout(user)
    claims.claim(row=again, waiting=WalletPayout.objects.all(), own=False, noun="wallet_payout", actor=staff)
    claims.release(row=again, waiting=WalletPayout.objects.all(), own=False, noun="wallet_payout", actor=staff)
    assert cancel_wallet_payout(wallet_payout=again, actor=user).status == "Cancelled"


def test_payment_details_are_erased_90_days_after_a_payment() -> None:
    user, staff = funded(inr=50_000, usd=700), UserFactory()
    paid, waiting = (
        pay_wallet_payout(wallet_payout=requested_payout(user), reference="T1", actor=staff),
        requested_payout(user, currency="USD"),
    )
    with later(days=bounds.BANK_DETAILS_DAYS - 1):
        assert "of 0 payouts erased" in said("purge", "wallet")
    with later(days=bounds.BANK_DETAILS_DAYS + 1):
        assert "of 1 payouts would be erased" in said("purge", "wallet", "--dry-run")
        assert "of 1 payouts erased" in said("purge", "wallet")
    paid.refresh_from_db()
    waiting.refresh_from_db()
    assert (paid.payment_details, paid.reference, waiting.payment_details) == ("", "T1", DETAILS)


def test_credit_held_for_a_payout_cannot_be_spent() -> None:
    user = funded(inr=50_000)
    requested_payout(user, 200)
    assert refused(lambda: bought(on_sale(), user)) == "insufficient_balance"
    assert (wallet_of(user).balance_inr_minor, held(user)) == (49_800, 200)


@pytest.mark.parametrize("words", ["", "  ", "two\nlines", "x" * (bounds.PAYMENT_REFERENCE_CHARS + 1)])
def test_payment_without_a_reference_and_refusal_without_a_reason_are_refused(words: str) -> None:
    wallet_payout, staff = requested_payout(funded(inr=50_000)), UserFactory()
    assert refused(lambda: pay_wallet_payout(wallet_payout=wallet_payout, reference=words, actor=staff)) == "invalid_input"
    if not words.strip():
        assert refused(lambda: refuse_wallet_payout(wallet_payout=wallet_payout, reason=words, actor=staff)) == "invalid_input"
    wallet_payout.refresh_from_db()
    assert wallet_payout.status == "Waiting"


def test_payout_of_the_whole_balance_excludes_a_later_refund() -> None:
    user = funded(inr=50_000)
    order = bought(on_sale(), user)
    wallet_payout = requested_payout(user)
    assert wallet_payout.amount_minor == 100
    # A refund in between is the wallet's, not the payout's.
    refund_order(order=order, reason="broken", actor=UserFactory())
    pay_wallet_payout(wallet_payout=wallet_payout, reference="T1", actor=UserFactory())
    assert (wallet_of(user).balance_inr_minor, held(user)) == (49_900, 0)


def test_paid_wallet_payout_moves_from_the_held_to_the_payout_account_and_is_covered_by_a_digest() -> None:
    user, staff = funded(inr=50_000), UserFactory()
    wallet_payout = pay_wallet_payout(wallet_payout=requested_payout(user, 20_000), reference=" UTR 7781 ", actor=staff)
    moved = Transfer.objects.filter(journal__in=[wallet_payout.hold_id, wallet_payout.closing_journal_id]).order_by("id")
    assert list(moved.values_list("debit__kind", "credit__kind", "amount_minor")) == [
        ("wallet", "held", 20_000),
        ("held", "payout", 20_000),
    ]
    assert (wallet_payout.status, wallet_payout.reference, wallet_payout.decided_by) == ("Paid", "UTR 7781", staff)
    closing = Journal.objects.get(closed_wallet_payout=wallet_payout)
    assert closing.reason == "paid by UTR 7781"
    list(digest_ledger(until=closing.at))
    assert LedgerAccount.objects.get(kind="payout", currency="INR").balance_minor == 20_000


@pytest.mark.parametrize("verb", ["refuse", "cancel"])
def test_refused_or_cancelled_payout_returns_to_the_wallet_and_its_payment_details_are_erased(verb: str) -> None:
    user, staff = funded(inr=50_000), UserFactory()
    wallet_payout = requested_payout(user, 20_000)
    if verb == "refuse":
        refuse_wallet_payout(wallet_payout=wallet_payout, reason="The bank knows no such account.", actor=staff)
    else:
        cancel_wallet_payout(wallet_payout=wallet_payout, actor=user)
    wallet_payout.refresh_from_db()
    assert (wallet_payout.payment_details, wallet_payout.reference) == ("", "")
    assert (wallet_of(user).balance_inr_minor, held(user)) == (50_000, 0)
    back = Journal.objects.get(closed_wallet_payout=wallet_payout)
    assert (back.undoes_id, back.wallet_net_minor, back.wallet_balance_minor) == (wallet_payout.hold_id, 20_000, 50_000)
    list(digest_ledger(until=back.at))


def test_mails_and_audit_log_of_a_payout_do_not_contain_the_payment_details(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    user, staff = funded(inr=50_000), UserFactory()
    with django_capture_on_commit_callbacks(execute=True):
        cancel_wallet_payout(wallet_payout=requested_payout(user), actor=user)
        refuse_wallet_payout(wallet_payout=requested_payout(user), reason="The bank knows no such account.", actor=staff)
        pay_wallet_payout(wallet_payout=requested_payout(user), reference="UTR 7781", actor=staff)
    steps = AuditEntry.objects.filter(action__startswith="wallet_payout.").order_by("id")
    assert [entry.action.split(".")[1] for entry in steps if entry.actor == user] == ["ask", "cancel", "ask", "ask"]
    assert (steps[0].to_state, steps[0].data) == ("Waiting", {"currency": "INR", "amountMinor": 50_000})
    assert [(entry.action, entry.reason, entry.data) for entry in steps if entry.actor == staff] == [
        ("wallet_payout.refuse", "The bank knows no such account.", {}),
        ("wallet_payout.pay", "", {"reference": "UTR 7781"}),
    ]
    mails = [message for message in outbox.outbox if message.to == [user.email]]
    assert len(mails) == 6
    assert "The bank knows no such account." in mails[3].body
    assert "UTR 7781" in mails[-1].body
    written = [str(entry.data) + entry.reason for entry in AuditEntry.objects.all()] + [each.reason for each in Journal.objects.all()]
    assert not [text for text in [*written, *(str(message.message()) for message in mails)] if "IBAN" in text]


def test_account_with_a_waiting_payout_is_not_deleted_and_its_payment_details_are_erased_with_it() -> None:
    user = funded(inr=50_000)
    wallet_payout = requested_payout(user)
    with pytest.raises(Problem) as excinfo:
        delete_account(user=user, reason="test", actor=None)
    assert excinfo.value.code == "account_in_use"
    assert "A payout of ₹500.00 from the wallet is under way" in excinfo.value.message
    assert [row["payment_details"] for row in export_account(user)["walletPayouts"]] == [DETAILS]
    pay_wallet_payout(wallet_payout=wallet_payout, reference="T1", actor=UserFactory())
    delete_account(user=user, reason="test", actor=None)
    wallet_payout.refresh_from_db()
    assert (wallet_payout.status, wallet_payout.payment_details, wallet_payout.reference) == ("Paid", "", "T1")


def test_decided_wallet_payout_is_never_changed_or_deleted() -> None:
    wallet_payout = pay_wallet_payout(wallet_payout=requested_payout(funded(inr=50_000)), reference="T1", actor=UserFactory())
    changes: list[dict[str, Any]] = [
        {"status": "Refused"},
        {"status": "Waiting", "closing_journal": None, "reference": ""},
        {"reference": "T2"},
        {"payment_details": "IBAN of someone else"},
        {"requested_at": "2020-01-01T00:00:00Z"},
    ]
    for change in changes:
        with pytest.raises(IntegrityError), transaction.atomic():
            WalletPayout.objects.filter(pk=wallet_payout.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        wallet_payout.delete()


def test_details_and_amount_of_a_waiting_payout_never_change() -> None:
    wallet_payout, other = requested_payout(funded(inr=50_000)), requested_payout(funded(inr=7))
    for change in ({"payment_details": "IBAN of someone else"}, {"wallet": other.wallet}, {"payment_details": ""}):
        with pytest.raises(IntegrityError), transaction.atomic():
            WalletPayout.objects.filter(pk=wallet_payout.pk).update(**change)


def test_second_open_payout_of_a_wallet_is_refused_by_the_database() -> None:
    wallet_payout, other = requested_payout(funded(inr=50_000)), requested_payout(funded(inr=7))
    unused = Journal.objects.filter(wallet_payout__isnull=True).earliest("id")
    with pytest.raises(IntegrityError, match=r"walletpayout_one_open|wallet_id"), transaction.atomic():
        WalletPayout.objects.create(wallet=wallet_payout.wallet, hold=unused, payment_details="x")
    assert other.status == "Waiting"


def test_old_secret_key_is_needed_until_a_waiting_payout_is_decided(settings: Any) -> None:
    user = funded(inr=50_000)
    wallet_payout = requested_payout(user)
    said("reencrypt_secrets")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another-key-another-key-another-key-another-key-more"
    with pytest.raises(CommandError, match="1 waiting wallet payouts"):
        said("reencrypt_secrets")
    cancel_wallet_payout(wallet_payout=wallet_payout, actor=user)
    said("reencrypt_secrets")

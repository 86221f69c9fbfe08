"""The reconcile command finds every kind of difference; the credit command is a ledger transfer."""

import uuid
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from library.models import Licence
from marketplace.accounts.models import User
from tests.callers import said
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.models import CardReversal, CreditReference, Journal, LedgerAccount, Order, Transfer, VendorPayout, WalletPayout
from wallet.models.ledger import AccountKind, JournalKind
from wallet.models.top_ups import EventKind
from wallet.reconciliation import differences
from wallet.services.digests import digest_ledger
from wallet.services.ledger import NewTransfer, change_amount_set_aside, change_wallet_balance, open_accounts, write_journal
from wallet.services.refunds import refund_order
from wallet.services.vendor_payouts import bounce_payout
from wallet.services.wallet_payouts import cancel_wallet_payout
from wallet.triggers import LEDGER_TRIGGERS

from .payees import earning, exported_payout
from .tampering import unguarded
from .top_up_cases import deliver_event, paid_top_up
from .wallet_payout_cases import refund_to_deleted_account, requested_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database]


reconcile = partial(said, "reconcile")


def assert_difference(sentence: str, count: int = 1) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match=f"{count} differences"):
        call_command("reconcile", stdout=out)
    assert sentence in out.getvalue()


def test_reconcile_says_that_a_correct_ledger_agrees() -> None:
    order = bought(on_sale())
    refund_order(order=bought(on_sale()), reason="test", actor=None)
    bought(on_sale(price_inr_minor=0))
    assert order.price_minor
    assert "Everything agrees: 3 orders." in reconcile()


def test_missing_trigger_is_a_difference() -> None:
    with connection.cursor() as cursor:
        name = "wallet_ledgeraccount_identity"
        cursor.execute(f"DROP TRIGGER {name}" + (" ON wallet_ledgeraccount" if connection.vendor == "postgresql" else ""))
    try:
        assert_difference(f"trigger {name} is missing")
    finally:
        LEDGER_TRIGGERS.install(connection)


@pytest.mark.parametrize(
    ("model", "change", "sentence"),
    [
        (LedgerAccount, {"balance_minor": 1}, "a balance of ₹0.01, but its transfers sum to ₹9,501.00"),
        (Order, {"commission_minor": 0, "vendor_share_minor": 42_288}, "order {order} and its transfers differ"),
        (Order, {"tax_rate_bp": 1700}, "order {order} has a tax that does not match its rate"),
        (Licence, {"listing": on_sale}, "differs from what order"),
        (Licence, {"revoked_at": timezone.now}, "is revoked though order"),
        (Licence, {"order_id": uuid.uuid4}, "belongs to no order"),
    ],
)
def test_altered_sale_is_a_difference(model: Any, change: dict[str, Any], sentence: str) -> None:
    order = bought(on_sale(tax_rate_bp=1800))
    altered = model.objects.filter(kind="wallet") if model is LedgerAccount else model.objects
    altered.update(**{name: value() if callable(value) else value for name, value in change.items()})
    assert sentence.format(order=order.pk) in "\n".join(differences())


def test_balance_without_any_entry_is_a_difference() -> None:
    LedgerAccount.objects.create(kind="wallet", owner=UserFactory(), currency="USD", may_go_negative=False, balance_minor=7)
    assert_difference("a balance of $0.07, but its transfers sum to $0.00")


def test_deleted_transfer_is_a_difference() -> None:
    order = bought(on_sale())
    with unguarded():
        Transfer.objects.filter(journal__order=order, credit__kind="commission").delete()
        LedgerAccount.objects.filter(kind="wallet").update(balance_minor=1_000_000 - order.vendor_share_minor)
    assert_difference(f"order {order.pk} and its transfers differ", count=2)
    assert_difference(f"journal {order.journals.get().pk} and its transfers move different amounts on the wallet account", count=2)


@pytest.mark.parametrize(
    ("change", "sentence", "count"),
    [
        ({"vendor_net_minor": 1}, "and its transfers move different amounts on the vendor account", 1),
        ({"vendor": None, "vendor_net_minor": None}, "and its transfers move different amounts on the vendor account", 1),
        ({"wallet_net_minor": -1}, "and its transfers move different amounts on the wallet account", 2),
        ({"wallet_balance_minor": 5}, "does not continue from the wallet's previous entry", 1),
        ({"wallet_entry": 7}, "does not continue from the wallet's previous entry", 2),
    ],
)
def test_journal_whose_net_amount_differs_from_its_transfers_is_a_difference(change: dict[str, Any], sentence: str, count: int) -> None:
    sale = bought(on_sale()).journals.get()
    with unguarded():
        Journal.objects.filter(pk=sale.pk).update(**change)
    assert_difference(f"journal {sale.pk} {sentence}", count)


@pytest.mark.parametrize("side", ["wallet", "vendor"])
def test_journal_with_the_wallet_or_vendor_of_another_is_a_difference(side: str) -> None:
    sale, other = bought(on_sale()).journals.get(), bought(on_sale()).journals.get()
    stolen: dict[str, Any] = {"vendor": other.vendor_id}
    if side == "wallet":
        stolen = {"wallet": other.wallet_id, "wallet_entry": 3}
    with unguarded():
        Journal.objects.filter(pk=sale.pk).update(**stolen)
    assert f"journal {sale.pk} and its transfers move different amounts on the {side} account" in list(differences())


def test_count_of_entries_that_is_wrong_is_a_difference() -> None:
    sale = bought(on_sale()).journals.get()
    LedgerAccount.objects.filter(wallet_journals=sale).update(entries=9)
    assert_difference(f"wallet {sale.wallet_id} counts 9 entries, but its last entry is number 2")


def test_vendor_balance_that_differs_from_its_digested_transfers_is_a_difference() -> None:
    sale = bought(on_sale()).journals.get()
    list(digest_ledger(until=timezone.now()))
    assert list(differences()) == []
    LedgerAccount.objects.filter(vendor_journals=sale).update(balance_minor=1)
    assert_difference(f"vendor account {sale.vendor_id} has a balance of ₹0.01, but its transfers that have a digest sum to ₹399.20")


def test_frozen_balance_that_differs_from_what_is_disputed_is_a_difference() -> None:
    top_up = paid_top_up(amount_minor=49_900)
    deliver_event(top_up, EventKind.DISPUTED)
    frozen = LedgerAccount.objects.get(kind="frozen", owner=top_up.user)
    LedgerAccount.objects.filter(pk=frozen.pk).update(balance_minor=1)
    assert f"frozen account {frozen.pk} holds ₹0.01, what is disputed or refunded is ₹499.00" in list(differences())


@pytest.mark.parametrize(
    ("end", "change"),
    [
        (EventKind.DISPUTE_WON, {"status": "Returned"}),
        (EventKind.DISPUTE_LOST, {"status": "Kept"}),
        (EventKind.DISPUTE_LOST, {"amount_minor": 49_899}),
    ],
)
def test_dispute_that_ended_otherwise_than_its_transfers_say_is_a_difference(end: EventKind, change: dict[str, Any]) -> None:
    top_up = paid_top_up(amount_minor=49_900)
    for kind in (EventKind.DISPUTED, end):
        deliver_event(top_up, kind)
    sentence = f"dispute {CardReversal.objects.get().pk} and its transfers differ"
    assert sentence not in list(differences())
    with unguarded():
        CardReversal.objects.update(**change)
    assert sentence in list(differences())


def test_journal_without_transfers_is_a_difference() -> None:
    wallet = LedgerAccount.objects.create(kind="wallet", owner=UserFactory(), currency="INR", may_go_negative=False)
    with unguarded():
        entry = {"wallet": wallet, "wallet_entry": 1, "wallet_net_minor": 1, "wallet_balance_minor": 1}
        journal = Journal.objects.create(kind="funding", reason="empty", **entry)
    assert f"journal {journal.pk} has no transfer" in list(differences())


def test_licence_that_outlived_its_refund_is_a_difference() -> None:
    refund_order(order=bought(on_sale()), reason="test", actor=None)
    Licence.objects.update(revoked_at=None)
    assert_difference("or the other way round")


def test_order_without_a_licence_is_a_difference() -> None:
    order = bought(on_sale())
    Licence.objects.all().delete()
    assert_difference(f"order {order.pk} granted no licence")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nobody@example.com", "1", "INR"), "No user has the email address"),
        (("buyer@example.com", "1.005", "INR"), "is not an amount"),
        (("buyer@example.com", "NaN", "INR"), "is not an amount"),
        (("buyer@example.com", "1e999999", "INR"), "is not an amount"),
        (("buyer@example.com", "0", "INR"), "Credit from 0.01"),
    ],
)
def test_credit_command_with_wrong_arguments_says_what_is_wrong(arguments: tuple[str, ...], sentence: str) -> None:
    UserFactory(email="buyer@example.com")
    with pytest.raises(CommandError, match=sentence):
        call_command("credit_wallet", *arguments, "--reason", "test")
    assert not Journal.objects.exists()


def test_payout_that_is_not_its_transfer_is_a_difference() -> None:
    account, other = earning(), earning()
    payout = exported_payout(account)
    with unguarded():
        VendorPayout.objects.update(account=other)
    assert list(differences()) == [f"payout {payout.pk} and its transfer differ"]
    with unguarded():
        VendorPayout.objects.all().delete()
    assert list(differences()) == [f"journal {payout.journal_id} is a payout that belongs to no batch"]


def test_return_journal_without_a_bounced_payout_is_a_difference() -> None:
    payout = bounce_payout(payout=exported_payout(earning()), reason="test", actor=None)
    with unguarded():
        VendorPayout.objects.update(status="Paid", return_journal=None, reason="")
    assert list(differences()) == [f"journal {payout.return_journal_id} returns a payout that does not exist"]


def test_held_account_cannot_be_overdrawn_and_reconciliation_reports_a_wrong_balance() -> None:
    user = funded(inr=50_000)
    requested_payout(user, 200)
    account = LedgerAccount.objects.get(kind="held", owner=user)
    with pytest.raises(IntegrityError, match="overdraft"), transaction.atomic():
        change_amount_set_aside(account.pk, -201)
    change_amount_set_aside(account.pk, 5)
    told = " ".join(differences())
    assert f"held account {account.pk} has a balance of ₹2.05, but its transfers sum to ₹2.00" in told
    assert f"held account {account.pk} has a balance of ₹2.05, but open wallet payouts sum to ₹2.00" in told


def test_reconciliation_reports_journals_without_a_payout_request_and_requests_that_differ_from_them() -> None:
    user, staff = funded(inr=50_000), UserFactory()
    wallet_payout = requested_payout(user, 200)
    wallet, account = wallet_payout.wallet_id, LedgerAccount.objects.get(kind="held", owner=user).pk
    entry = change_wallet_balance(wallet, -100)
    change_amount_set_aside(account, 100)
    leg: dict[str, Any] = {"currency": "INR", "reason": "stray", "actor": staff}
    stray = write_journal(kind=JournalKind.HOLD, transfers=[NewTransfer(wallet, account, 100)], wallet_entry=entry, **leg)
    told = list(differences())
    assert f"journal {stray} sets money aside for a wallet payout that does not exist" in told
    assert f"held account {account} has a balance of ₹3.00, but open wallet payouts sum to ₹2.00" in told
    payout = open_accounts("INR", {AccountKind.PAYOUT: None})[AccountKind.PAYOUT]
    change_amount_set_aside(account, -300)
    settled = write_journal(kind=JournalKind.SETTLEMENT, transfers=[NewTransfer(account, payout, 300)], **leg)
    assert f"journal {settled} ends a wallet payout that does not exist" in list(differences())
    # Of another amount.
    WalletPayout.objects.filter(pk=wallet_payout.pk).update(status="Paid", closing_journal=settled, reference="T1")
    assert f"wallet payout {wallet_payout.pk} and its transfers differ" in list(differences())


def test_reconciliation_reports_a_payout_request_of_another_wallet_than_its_journal() -> None:
    user = funded(inr=50_000, usd=700)
    entry = change_wallet_balance(LedgerAccount.objects.get(kind="wallet", owner=user, currency="USD").pk, -700)
    held_id = open_accounts("USD", {AccountKind.HELD: user.pk})[AccountKind.HELD]
    change_amount_set_aside(held_id, 700)
    transfers = [NewTransfer(entry.account_id, held_id, 700)]
    moved = write_journal(kind=JournalKind.HOLD, transfers=transfers, wallet_entry=entry, currency="USD", reason="stray", actor=user)
    rupees = LedgerAccount.objects.get(kind="wallet", owner=user, currency="INR")
    wallet_payout = WalletPayout.objects.create(wallet=rupees, hold_id=moved, payment_details="x")
    assert f"wallet payout {wallet_payout.pk} and its transfers differ" in list(differences())


def test_reconciliation_reports_a_cancelled_payout_whose_journal_returns_that_of_another_wallet() -> None:
    user = funded(inr=50_000)
    wallet_payout, other = requested_payout(user), requested_payout(funded(inr=50_000))
    cancel_wallet_payout(wallet_payout=wallet_payout, actor=user)
    with unguarded():
        Journal.objects.filter(closed_wallet_payout=wallet_payout).update(undoes=other.hold)
    assert f"wallet payout {wallet_payout.pk} and its transfers differ" in list(differences())


def test_reconciliation_reports_an_unclaimed_refund_of_an_existing_account() -> None:
    order = refund_to_deleted_account()
    refund_order(order=order, reason="broken", actor=None)
    User.objects.filter(pk=order.buyer_id).update(email="alive@example.com")
    assert f"order {order.pk} and its transfers differ" in list(differences())


def test_reconciliation_reports_a_credit_reference_of_a_journal_that_is_no_credit() -> None:
    order = bought(on_sale(), funded(inr=49_900))
    sale = Journal.objects.get(order=order)
    CreditReference.objects.create(journal=sale, source="bank", reference="UTR 7781")
    assert list(differences()) == [f"reference UTR 7781 (bank) belongs to journal {sale.pk}, which is not a credit"]

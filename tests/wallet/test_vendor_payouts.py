"""Payouts: everything that is due, once in a run, to the cent; nothing to whom cannot be paid; and back again when the bank returns it."""

import csv
import stat
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition, NotFound, SelfReview
from marketplace.core.models import AuditEntry
from tests.callers import said
from tests.eager import sent_mails
from tests.factories import UserFactory
from tests.races import THREADS, outcomes_at_once
from tests.shop import bought, funded, on_sale
from vendors.bounds import PAYOUT_WAIT
from vendors.models import PayoutDetails, VendorProfile, VendorStatus
from wallet.errors import PayoutBatchOpen
from wallet.models import Journal, LedgerAccount, PayoutBatch, Transfer, VendorPayout
from wallet.models.ledger import JournalKind
from wallet.payout_files import bank_file
from wallet.selectors import earnings_of, vendor_accounts
from wallet.services.due_payouts import NextPayout, SkippedPayout, next_payouts, next_run
from wallet.services.ledger import NewTransfer, VendorEntry, write_journal
from wallet.services.refunds import refund_order
from wallet.services.vendor_payouts import (
    bounce_payout,
    cancel_batch,
    cancel_payout,
    expired_bank_accounts,
    export_batch,
    mark_batch_paid,
    mark_payout_paid,
    open_batch,
    prepare_payout,
)

from .payees import (
    IFSC,
    NUMBER,
    account_of,
    changed_bank_account,
    earned,
    end_waiting_time,
    exported_payout,
    paid_payout,
    payee,
    payout_of,
    prepared_payout,
    skipped,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]
# 80 % of 499.00.
SHARE = 39_920


def sold(profile: VendorProfile, times: int = 1) -> LedgerAccount:
    for _ in range(times):
        bought(on_sale(store=profile.store))
    return account_of(profile)


def run(*arguments: str) -> list[str]:
    return said("payout", *arguments).splitlines()


def prepare(name: str = "a", *arguments: str) -> list[str]:
    return run("prepare", "--run", name, "--currency", "INR", *arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("prepare", "--run", "../etc", "--currency", "INR"), "Letters, digits"),
        (("prepare", "--run", "x" * 65, "--currency", "INR"), "Letters, digits"),
        (("prepare", "--run", "a", "--currency", "INR", "--minimum", "0"), "at least 0.01"),
        (("prepare", "--run", "a", "--currency", "INR", "--minimum", "0.001"), "is not an amount"),
        (("prepare", "--run", "a", "--currency", "INR", "--minimum", "1e999999"), "is not an amount"),
        (("prepare", "--run", "../etc", "--currency", "INR", "--dry-run"), "Letters, digits"),
        (("prepare", "--run", "a", "--currency", "INR", "--vendor", "nobody"), "No store nobody has earned anything"),
        (("prepare", "--run", "a", "--currency", "INR", "--euro-rate", "0.01"), "PAYOUT_IBAN"),
        (("export", "--run", "a", "--currency", "INR", "--file", "/nowhere/at/all.csv"), "There is no run a"),
        (("bounced", "--payout", "x", "--reason", "x"), "There is no payout x"),
    ],
)
def test_payout_command_with_wrong_arguments_says_what_is_wrong_and_pays_nobody(arguments: tuple[str, ...], sentence: str) -> None:
    sold(payee())
    with pytest.raises(CommandError, match=sentence):
        run(*arguments)
    assert not VendorPayout.objects.exists()


@pytest.mark.parametrize(("name", "rate"), [("a", "0"), ("a", "NaN"), ("a", "10"), ("a", "0.1234567"), ("a b", "1"), ("", "1")])
def test_invalid_name_or_euro_rate_of_a_payout_run_is_refused(name: str, rate: str) -> None:
    with pytest.raises(InvalidInput):
        open_batch(run=name, currency="USD", actor=None, euro_rate=Decimal(rate))


def test_ledger_account_that_is_no_vendors_is_never_paid_out() -> None:
    user, vendor = funded(inr=100), payee()
    dollars = vendor_accounts(currency="USD")
    bought(on_sale(store=vendor.store), funded(usd=1000), currency="USD")
    batch = open_batch(run="a", currency="INR", actor=None)
    for account in [*LedgerAccount.objects.filter(owner=user), dollars.get()]:
        with pytest.raises(NotFound):
            prepare_payout(account=account, batch=batch, minimum_minor=1, actor=None)


@pytest.mark.parametrize(
    ("profile", "details", "why"),
    [
        ({"status": VendorStatus.SUSPENDED}, {}, "vendor_not_approved"),
        ({"payouts_held_at": timezone.now()}, {}, "payouts_held"),
        ({}, {"withdrawn_at": timezone.now()}, "no_bank_account"),
        ({}, {"encrypted": "of a key that is gone"}, "no_bank_account"),
        ({}, {"created_at": timezone.now()}, "new_bank_account"),
    ],
)
def test_vendor_who_cannot_be_paid_keeps_the_earnings(profile: dict[str, Any], details: dict[str, Any], why: str) -> None:
    vendor = payee()
    account = sold(vendor)
    VendorProfile.objects.filter(pk=vendor.pk).update(**{"status": vendor.status, **profile})
    if details:
        PayoutDetails.objects.filter(profile=vendor).update(**details)
    held = skipped(account)
    assert (held.amount_minor, held.reason.value) == (SHARE, why)
    assert f"not paid: {vendor.store.slug}, 399.20 INR, {held.reason.label}" in prepare()
    assert earned(vendor.user)["INR"] == SHARE


def test_vendor_whose_account_is_deactivated_is_paid_once_it_is_active_again() -> None:
    first, second = payee(), payee()
    payouts = [payout_of(sold(vendor)) for vendor in (first, second)]
    User.objects.filter(pk=first.user_id).update(is_active=False)
    export_batch(batch=payouts[0].batch, actor=None)
    account = account_of(first)
    kept = skipped(account, "b")
    assert (kept.amount_minor, kept.reason.value) == (SHARE, "account_deactivated")
    User.objects.filter(pk=first.user_id).update(is_active=True)
    assert skipped(account, "b", SHARE + 1).reason.value == "below_minimum"
    assert payout_of(account, "b", SHARE).amount_minor == SHARE


def test_first_payout_after_a_change_waits_for_72_hours_by_the_clock_of_the_database() -> None:
    vendor = payee()
    account = sold(vendor)
    changed_bank_account(vendor, "INR", number="999888777666")
    # What this process believes of the time changes nothing.
    with patch("django.utils.timezone.now", return_value=timezone.now() + timedelta(days=9)):
        skipped(account)
    end_waiting_time(vendor, hours=71.9)
    skipped(account)
    end_waiting_time(vendor, hours=0.2)
    payout = payout_of(account)
    assert payout.details.label == "Account ending in 7666"


def test_next_payout_is_on_the_next_run_or_on_the_first_after_a_changed_bank_account_has_waited(settings: Any) -> None:
    vendor = payee()
    end_waiting_time(vendor, hours=60 * 24)
    sold(vendor)
    tomorrow = timezone.now().date() + timedelta(days=1)
    settings.PAYOUT_DAY = tomorrow.day

    def rupees() -> NextPayout:
        return next_payouts(profile=vendor, accounts=earnings_of(vendor.user))[0]

    assert (rupees().reason, rupees().on) == ("", tomorrow)
    changed = changed_bank_account(vendor, "INR", number="999888777666")
    assert (rupees().reason, rupees().on) == ("new_bank_account", next_run(after=changed.created_at + PAYOUT_WAIT))
    assert rupees().on > tomorrow


@pytest.mark.parametrize(("minimum", "paid"), [(SHARE + 1, False), (SHARE, True), (0, True)])
def test_earnings_below_the_minimum_are_not_paid(minimum: int, paid: bool) -> None:  # noqa: FBT001 - a case
    account = sold(payee())
    assert isinstance(prepared_payout(account, minimum_minor=minimum), VendorPayout) is paid


def test_balance_of_zero_or_less_is_not_paid() -> None:
    vendor = payee()
    order = bought(on_sale(store=vendor.store))
    account = account_of(vendor)
    paid_payout(account)
    skipped(account, "b", -1)
    refund_order(order=order, reason="test", actor=None)
    assert earned(vendor.user) == {"INR": -SHARE, "USD": 0}
    skipped(account, "b", -100_000)
    # The next sale makes up for it, the one after is earned.
    sold(vendor, 2)
    assert prepare("b")[-2] == "Run b: 1 payouts of 399.20 INR; not paid: 0.00 INR."


def test_payout_is_one_transfer_of_all_that_was_earned() -> None:
    _, vendor = payee(), payee()
    account = sold(vendor, 2)
    payout = payout_of(account, "2026-11")
    assert payout.details.profile == vendor
    assert (payout.batch.run, payout.account, payout.status, payout.amount_minor) == ("2026-11", account, "Prepared", 2 * SHARE)
    transfer = payout.journal.transfers.get()
    assert (transfer.debit, transfer.credit.kind, transfer.amount_minor) == (account, "payout", 2 * SHARE)
    assert (payout.journal.kind, payout.journal.reason) == ("payout", "payout run 2026-11")
    assert AuditEntry.objects.get(action="payout.prepare").data["amountMinor"] == 2 * SHARE
    assert history_of(payout.batch)[0].data == {"run": "2026-11", "currency": "INR", "rate": ""}
    assert earned(vendor.user)["INR"] == 0


def test_payout_is_exported_paid_and_bounced() -> None:
    vendor, staff = payee(), UserFactory()
    payout = exported_payout(sold(vendor))
    in_another_batch = exported_payout(sold(payee()), "b")
    assert payout.status == "Exported"
    assert mark_batch_paid(batch=payout.batch, actor=staff) == 1
    payout.refresh_from_db()
    assert VendorPayout.objects.get(pk=in_another_batch.pk).status == "Exported"
    assert (payout.status, earned(vendor.user)["INR"]) == ("Paid", 0)
    with pytest.raises(InvalidTransition):
        mark_batch_paid(batch=payout.batch, actor=staff)
    # Banks return transfers days later.
    payout = bounce_payout(payout=payout, reason="The account is closed.", actor=staff)
    assert (payout.status, payout.reason, earned(vendor.user)["INR"]) == ("Bounced", "The account is closed.", SHARE)
    assert payout.return_journal is not None
    assert (payout.return_journal.kind, payout.return_journal.undoes, payout.return_journal.actor) == (
        "payout_return",
        payout.journal,
        staff,
    )
    # The next run pays it.
    assert paid_payout(account_of(vendor), "c").amount_minor == SHARE


def test_vendor_is_mailed_a_paid_payout_and_why_it_bounced_with_a_shortened_account() -> None:
    vendor = payee()
    payout = exported_payout(sold(vendor))
    mark_payout_paid(payout=payout, actor=None)
    bounce_payout(payout=payout, reason="The account is closed.", actor=None)
    paid, bounced = (message for message in sent_mails() if message.to == [vendor.user.email] and "399.20" in message.subject)
    assert str(payout.pk) in paid.body
    assert "The account is closed." in bounced.body
    for sent in (paid, bounced):
        assert (NUMBER[-4:] in sent.body, NUMBER in str(sent.message())) == (True, False)


@pytest.mark.parametrize("is_exported", [True, False])
def test_batch_with_a_payout_of_ones_own_is_settled_by_someone_else(is_exported: bool) -> None:  # noqa: FBT001 - a case
    vendor, other = payee(), payee()
    payouts = [payout_of(sold(each)) for each in (vendor, other)]
    batch = payouts[0].batch
    settle: Any = partial(cancel_batch, reason="test")
    if is_exported:
        export_batch(batch=batch, actor=None)
        settle = mark_batch_paid
    with pytest.raises(SelfReview), transaction.atomic():
        settle(batch=batch, actor=vendor.user)
    assert VendorPayout.objects.filter(settled_at__isnull=True).count() == 2
    settle(batch=batch, actor=UserFactory())
    assert not VendorPayout.objects.filter(settled_at__isnull=True).exists()


def test_cancelled_batch_and_cancelled_payout_return_the_amount() -> None:
    first, second = payee(), payee()
    one, _ = payout_of(sold(first)), payout_of(sold(second))
    cancel_payout(payout=one, reason="They asked to wait.", actor=None)
    assert (earned(first.user)["INR"], earned(second.user)["INR"]) == (SHARE, 0)
    with pytest.raises(InvalidInput):
        cancel_batch(batch=one.batch, reason=" ", actor=None)
    batch = cancel_batch(batch=one.batch, reason="The wrong month.", actor=None)
    assert (batch.status, earned(second.user)["INR"]) == ("Cancelled", SHARE)
    with pytest.raises(InvalidTransition):
        export_batch(batch=batch, actor=None)
    # Another one can be opened now.
    assert payout_of(account_of(first), "b").amount_minor == SHARE


def test_payout_with_a_withdrawn_bank_account_or_held_vendor_is_not_exported() -> None:
    first, second, third, fourth = payee(), payee(), payee(), payee()
    payouts = [payout_of(sold(vendor)) for vendor in (first, second, third, fourth)]
    PayoutDetails.objects.filter(profile=first).update(withdrawn_at=timezone.now())
    VendorProfile.objects.filter(pk=second.pk).update(payouts_held_at=timezone.now())
    PayoutDetails.objects.filter(profile=fourth).update(encrypted="of a key that is gone")
    batch = export_batch(batch=payouts[0].batch, actor=None)
    found = {payout.account.owner_id: payout.status for payout in VendorPayout.objects.select_related("account")}
    assert found == dict.fromkeys((first.user_id, second.user_id, fourth.user_id), "Cancelled") | {third.user_id: "Exported"}
    assert third.store.slug in bank_file(batch=batch).content.decode()
    assert (earned(first.user)["INR"], earned(second.user)["INR"]) == (SHARE, SHARE)


def test_payout_of_a_sale_that_was_refunded_meanwhile_is_left_to_the_next_run() -> None:
    vendor, other = payee(), payee()
    kept = bought(on_sale(store=vendor.store))
    refunded = bought(on_sale(store=vendor.store))
    payout, _ = payout_of(account_of(vendor)), payout_of(sold(other))
    refund_order(order=refunded, reason="broken", actor=None)
    assert earned(vendor.user)["INR"] == -SHARE
    export_batch(batch=payout.batch, actor=None)
    payout.refresh_from_db()
    assert (payout.status, earned(vendor.user)["INR"]) == ("Cancelled", kept.vendor_share_minor)
    # What is earned beside it makes up for a refund.
    following = payout_of(account_of(vendor), "b")
    bought(on_sale(store=vendor.store))
    refund_order(order=kept, reason="broken", actor=None)
    export_batch(batch=following.batch, actor=None)
    following.refresh_from_db()
    assert (following.status, following.amount_minor, earned(vendor.user)["INR"]) == ("Exported", SHARE, 0)


def test_batch_without_remaining_payouts_is_not_exported_and_an_exported_one_or_one_in_another_currency_takes_no_more() -> None:
    vendor = payee()
    payout = payout_of(sold(vendor))
    for account, currency in ((sold(payee()), "USD"), (LedgerAccount.objects.get(kind="commission"), "INR")):
        with pytest.raises(NotFound):
            prepare_payout(account=account, batch=open_batch(run="a", currency=currency, actor=None), minimum_minor=1, actor=None)
    VendorProfile.objects.update(payouts_held_at=timezone.now())
    with pytest.raises(InvalidTransition):
        export_batch(batch=payout.batch, actor=None)
    payout.refresh_from_db()
    assert (payout.status, earned(vendor.user)["INR"]) == ("Prepared", 0)
    VendorProfile.objects.update(payouts_held_at=None)
    export_batch(batch=payout.batch, actor=None)
    with pytest.raises(InvalidTransition):
        prepare_payout(account=sold(payee()), batch=payout.batch, minimum_minor=1, actor=None)


def test_one_payout_run_at_a_time_is_prepared_in_each_currency() -> None:
    open_batch(run="a", currency="INR", actor=None)
    open_batch(run="u", currency="USD", actor=None)
    with pytest.raises(PayoutBatchOpen) as refusal:
        open_batch(run="b", currency="INR", actor=None)
    assert refusal.value.members["run"] == "a"
    with pytest.raises(InvalidTransition):
        open_batch(run="u", currency="USD", actor=None, euro_rate=Decimal("0.9"))
    with pytest.raises(IntegrityError, match=r"payoutbatch_one_open|UNIQUE"), transaction.atomic():
        PayoutBatch.objects.create(run="c", currency="INR", transfer_currency="INR")


def test_repeated_payout_run_pays_nobody_twice_and_counts_no_cancelled_payout_as_due() -> None:
    vendor = payee()
    sold(vendor)
    first = prepare()
    # Earned after it was prepared, so for the next one.
    sold(vendor)
    assert prepare() == first
    assert earned(vendor.user)["INR"] == SHARE
    cancel_payout(payout=VendorPayout.objects.get(), reason="They asked to wait.", actor=None)
    assert prepare() == [
        f"not paid: {vendor.store.slug}, 399.20 INR, cancelled in this run",
        "Run a: 0 payouts of 0.00 INR; not paid: 399.20 INR.",
        "Next: prepare it again later, or payout cancel --run a --currency INR --reason REASON",
    ]
    with pytest.raises(CommandError, match="Export or cancel run a first"):
        prepare("b")
    other = payee()
    sold(other)
    prepare("a", "--vendor", other.store.slug)
    # A run that pays somebody is not to be cancelled because it does not pay this vendor.
    assert prepare("a", "--vendor", vendor.store.slug)[-1] == "Next: payout export --run a --currency INR --file FILE"


def test_dry_run_of_a_payout_run_lists_what_is_due_and_pays_nobody() -> None:
    vendor = payee()
    sold(vendor)
    assert prepare("a", "--dry-run") == [
        f"due: {vendor.store.slug}, 399.20 INR",
        "Run a: 1 payouts of 399.20 INR; not paid: 0.00 INR.",
    ]
    assert not Journal.objects.filter(kind="payout").exists()
    assert not PayoutBatch.objects.exists()


def test_payout_run_is_prepared_exported_and_paid_by_commands(tmp_path: Path) -> None:
    vendor, other, path = payee(), payee(), tmp_path / "list.csv"
    sold(vendor)
    sold(other)
    prepare("a", "--vendor", vendor.store.slug)
    with pytest.raises(CommandError, match="cannot be written"):
        run("export", "--run", "a", "--currency", "INR", "--file", "/nowhere/at/all.csv")
    assert PayoutBatch.objects.get().status == "Prepared"
    run("export", "--run", "a", "--currency", "INR", "--file", str(path))
    ((number, *cells),) = list(csv.reader(path.read_text().splitlines()))[1:]
    assert cells == ["a", vendor.store.slug, "Asha Rao", NUMBER, IFSC, "INR", "399.20"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(CommandError, match="File exists"):
        run("export", "--run", "a", "--currency", "INR", "--file", str(path), "--again")
    with pytest.raises(CommandError, match="it is Exported"):
        run("export", "--run", "a", "--currency", "INR", "--file", str(tmp_path / "second.csv"))
    run("export", "--run", "a", "--currency", "INR", "--file", str(tmp_path / "second.csv"), "--again")
    assert (tmp_path / "second.csv").read_text() == path.read_text()
    assert [entry.actor for entry in history_of(PayoutBatch.objects.get()) if entry.action == "payout_batch.download"] == [None, None]
    assert run("paid", "--run", "a", "--currency", "INR") == ["1 payouts are paid."]
    run("bounced", "--payout", number, "--reason", "Closed.")
    assert earned(vendor.user)["INR"] == SHARE
    prepare("b")
    run("cancel", "--run", "b", "--currency", "INR", "--reason", "Not yet.")
    assert earned(other.user)["INR"] == SHARE


def test_payout_file_that_could_not_be_written_is_written_by_the_same_command_again(tmp_path: Path) -> None:
    sold(payee())
    prepare()
    path = tmp_path / "list.csv"
    with (
        patch("wallet.management.commands.payout.os.fdopen", side_effect=OSError(28, "No space left on device")),
        pytest.raises(CommandError, match="--again") as refusal,
    ):
        run("export", "--run", "a", "--currency", "INR", "--file", str(path))
    assert refusal.value.returncode == 1
    assert not path.exists()
    run("export", "--run", "a", "--currency", "INR", "--file", str(path), "--again")
    assert NUMBER in path.read_text()


def test_second_payout_of_a_run_is_refused_by_the_database() -> None:
    payout = payout_of(sold(payee()))
    transfer = NewTransfer(payout.account_id, payout.journal.transfers.get().credit_id, 1)
    taken = VendorEntry(payout.account_id, -1)
    with transaction.atomic():
        journal_id = write_journal(
            kind=JournalKind.PAYOUT, transfers=[transfer], currency="INR", reason="twice", actor=None, vendor_entry=taken
        )
        with pytest.raises(IntegrityError, match=r"vendorpayout_once_in_batch|UNIQUE"), transaction.atomic():
            VendorPayout.objects.create(batch=payout.batch, account=payout.account, journal_id=journal_id, details=payout.details)
        transaction.set_rollback(True)


def test_vendor_payout_record_is_never_changed() -> None:
    bounce_payout(payout=exported_payout(sold(payee())), reason="test", actor=None)
    for statement in (
        "UPDATE wallet_vendorpayout SET batch_id = id",
        "UPDATE wallet_vendorpayout SET account_id = id",
        "UPDATE wallet_vendorpayout SET status = 'Paid', return_journal_id = NULL, reason = ''",
        "UPDATE wallet_vendorpayout SET reason = 'other'",
        "DELETE FROM wallet_vendorpayout",
        "UPDATE wallet_payoutbatch SET run = 'b'",
        "UPDATE wallet_payoutbatch SET status = 'Prepared', exported_at = NULL",
        "DELETE FROM wallet_payoutbatch",
    ):
        with pytest.raises(IntegrityError, match="refused"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_bank_account_that_was_replaced_is_erased_once_no_payout_needs_it() -> None:
    vendor = payee()
    payout = exported_payout(sold(vendor))
    end_waiting_time(vendor, hours=24 * 100)
    changed_bank_account(vendor, "INR", number="999888777666")
    assert not expired_bank_accounts().exists()
    end_waiting_time(vendor, hours=24 * 91)
    # The bank may still return it.
    assert not expired_bank_accounts().exists()
    mark_payout_paid(payout=payout, actor=None)
    assert not expired_bank_accounts().exists()
    VendorPayout.objects.update(settled_at=timezone.now() - timedelta(days=91))
    assert [details.pk for details in expired_bank_accounts()] == [payout.details_id]
    said("purge", "wallet")
    payout.details.refresh_from_db()
    assert payout.details.encrypted == ""
    assert PayoutDetails.objects.exclude(encrypted="").count() == 2


@pytest.mark.django_db(transaction=True)
def test_concurrent_payouts_pay_earnings_once() -> None:
    account = sold(payee())
    batch = open_batch(run="a", currency="INR", actor=None)
    prepare = [lambda: prepare_payout(account=account, batch=batch, minimum_minor=1, actor=None) for _ in range(THREADS)]
    assert {type(outcome) for outcome in outcomes_at_once(*prepare)} <= {VendorPayout, SkippedPayout}
    assert VendorPayout.objects.count() == 1
    assert Transfer.objects.filter(credit__kind="payout").get().amount_minor == SHARE


@pytest.mark.django_db(transaction=True)
def test_concurrent_payout_runs_open_one_batch() -> None:
    outcomes = outcomes_at_once(*(lambda i=i: open_batch(run=f"{i % 2}", currency="INR", actor=None).run for i in range(THREADS)))
    (batch,) = PayoutBatch.objects.all()
    assert set(outcomes) == {batch.run, "payout_batch_open"}


@pytest.mark.django_db(transaction=True)
def test_one_of_concurrent_exports_and_one_of_concurrent_settlements_succeeds() -> None:
    vendor = payee()
    payout = payout_of(sold(vendor))
    outcomes = outcomes_at_once(*(lambda: export_batch(batch=payout.batch, actor=None).status for _ in range(8)))
    assert sorted(outcomes) == ["Exported", *["invalid_transition"] * 7]
    assert AuditEntry.objects.filter(action="payout.export").count() == 1
    settle: list[Any] = [lambda: mark_payout_paid(payout=payout, actor=None), lambda: bounce_payout(payout=payout, reason="x", actor=None)]
    outcomes_at_once(*settle * 4)
    assert Journal.objects.filter(kind="payout_return").count() == 1
    assert (VendorPayout.objects.get().status, earned(vendor.user)["INR"]) == ("Bounced", SHARE)


@pytest.mark.django_db(transaction=True)
def test_concurrent_export_and_cancellation_of_a_batch_end_in_one_of_them() -> None:
    for name in ("a", "b", "c"):
        vendor = payee()
        payout = payout_of(sold(vendor), name)
        outcomes_at_once(
            partial(export_batch, batch=payout.batch, actor=None),
            partial(cancel_payout, payout=payout, reason="x", actor=None),
            partial(cancel_batch, batch=payout.batch, reason="x", actor=None),
        )
        payout.refresh_from_db()
        assert (payout.status, earned(vendor.user)["INR"]) in (("Exported", 0), ("Cancelled", SHARE))
        for batch in PayoutBatch.objects.filter(status="Prepared"):
            cancel_batch(batch=batch, reason="x", actor=None)

"""Payouts: everything that is due, once in a run, to the cent, and nothing to whom cannot be paid."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from marketplace.core.errors import InvalidInput, NotFound
from marketplace.core.models import AuditEntry
from tests.races import THREADS, outcomes_at_once
from tests.shop import bought, funded, on_sale
from vendors.models import VendorProfile, VendorStatus
from wallet.models import Journal, LedgerAccount, Transfer, VendorPayout
from wallet.models.ledger import JournalKind
from wallet.reconciliation import differences
from wallet.selectors import vendor_accounts
from wallet.services.ledger import Leg, VendorEntry, write_journal
from wallet.services.refunds import refund_order
from wallet.services.vendor_payouts import WithheldPayout, pay_out

from .payees import earned, payee
from .tampering import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.database]
# 80 % of 499.00.
SHARE = 39_920


def sold(profile: VendorProfile, times: int = 1) -> LedgerAccount:
    """Sell something of the vendor's; return the account that earns."""
    for _ in range(times):
        bought(on_sale(store=profile.store))
    return vendor_accounts(currency="INR").get(owner=profile.user)


def run(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("payout", *arguments, stdout=out)
    return out.getvalue().splitlines()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--run", ""), "Letters, digits"),
        (("--run", "../etc"), "Letters, digits"),
        (("--run", "x" * 65), "Letters, digits"),
        (("--run", "a", "--minimum", "0"), "at least 0.01"),
        (("--run", "a", "--minimum", "-5"), "at least 0.01"),
        (("--run", "a", "--minimum", "0.001"), "is not an amount"),
        (("--run", "a", "--minimum", "NaN"), "is not an amount"),
        (("--run", "a", "--vendor", "nobody"), "No store nobody has earned anything"),
        (("--run", "a", "--csv", "/nowhere/at/all.csv"), "cannot be written"),
        (("--run", "a", "--currency", "EUR"), "invalid choice"),
        ((), "--run"),
    ],
)
def test_command_says_what_is_wrong_and_pays_nobody(arguments: tuple[str, ...], sentence: str) -> None:
    sold(payee())
    with pytest.raises(CommandError, match=sentence):
        run(*arguments)
    assert not VendorPayout.objects.exists()


def test_account_that_is_no_vendors_is_never_paid_out() -> None:
    user = funded(inr=100)
    for account in LedgerAccount.objects.all():
        with pytest.raises(NotFound):
            pay_out(account=account, run="a", minimum_minor=1)
    with pytest.raises(InvalidInput):
        pay_out(account=LedgerAccount.objects.get(owner=user), run="no run", minimum_minor=1)


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        ({"payout_method": None}, "no payout method"),
        ({"payout_method": ""}, "no payout method"),
        ({"status": VendorStatus.SUSPENDED}, "the vendor is Suspended"),
    ],
)
def test_vendor_who_cannot_be_paid_keeps_the_earnings(profile: dict[str, Any], why: str) -> None:
    vendor = payee()
    account = sold(vendor)
    VendorProfile.objects.filter(pk=vendor.pk).update(**profile)
    held = pay_out(account=account, run="a", minimum_minor=1)
    assert isinstance(held, WithheldPayout)
    assert held.why.startswith(why)
    lines = run("--run", "a")
    assert lines[0] == f"held: {vendor.store.slug}, 399.20 INR, {held.why}"
    assert lines[-1] == "Run a: 0 payouts paid, 0.00 INR, 0.00 USD; not paid: 399.20 INR, 0.00 USD."
    assert earned(vendor.user)["INR"] == SHARE


@pytest.mark.parametrize(("minimum", "paid"), [(SHARE + 1, False), (SHARE, True), (0, True), (-1, True)])
def test_less_than_the_minimum_stays(minimum: int, paid: bool) -> None:  # noqa: FBT001 - a case
    account = sold(payee())
    assert isinstance(pay_out(account=account, run="a", minimum_minor=minimum), VendorPayout) is paid


def test_balance_of_nothing_or_less_is_not_paid() -> None:
    vendor = payee()
    order = bought(on_sale(store=vendor.store))
    account = vendor_accounts().get(owner=vendor.user)
    pay_out(account=account, run="a", minimum_minor=1)
    assert isinstance(pay_out(account=account, run="b", minimum_minor=-1), WithheldPayout)
    refund_order(order=order, reason="test", actor=None)
    assert earned(vendor.user) == {"INR": -SHARE, "USD": 0}
    assert isinstance(pay_out(account=account, run="b", minimum_minor=-100_000), WithheldPayout)
    assert run("--run", "b")[-1] == "Run b: 0 payouts paid, 0.00 INR, 0.00 USD; not paid: -399.20 INR, 0.00 USD."
    # The next sale makes up for it, the one after is earned.
    sold(vendor, 2)
    assert run("--run", "b")[-1].startswith("Run b: 1 payouts paid, 399.20 INR")
    assert list(differences()) == []


def test_payout_is_one_transfer_of_all_that_was_earned() -> None:
    vendor = payee()
    account = sold(vendor, 2)
    payout = pay_out(account=account, run="2026-11", minimum_minor=1)
    assert isinstance(payout, VendorPayout)
    assert (payout.run, payout.account, payout.payout_method) == ("2026-11", account, "IBAN DE02 1203")
    transfer = payout.journal.transfers.get()
    assert (transfer.debit, transfer.credit.kind, transfer.amount_minor) == (account, "payout", 2 * SHARE)
    assert (payout.journal.kind, payout.journal.reason) == ("payout", "payout run 2026-11")
    assert AuditEntry.objects.get(action="payout.make").data["amountMinor"] == 2 * SHARE
    assert earned(vendor.user)["INR"] == 0


def test_run_that_is_repeated_pays_nobody_twice_and_lists_the_same(tmp_path: Path) -> None:
    vendor, path = payee(), tmp_path / "list.csv"
    account = sold(vendor)
    run("--run", "a", "--csv", str(path))
    first = path.read_text()
    # Earned after the run, so for the next one.
    sold(vendor)
    run("--run", "a", "--csv", str(path))
    assert path.read_text() == first
    assert VendorPayout.objects.get().account == account
    run("--run", "b")
    assert VendorPayout.objects.count() == 2
    assert earned(vendor.user)["INR"] == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_list_that_could_not_be_written_is_had_by_the_same_command(tmp_path: Path) -> None:
    sold(payee())
    with pytest.raises(CommandError, match="Run the same command again") as refusal:
        run("--run", "a", "--csv", "/dev/full")
    assert refusal.value.returncode == 1
    path = tmp_path / "list.csv"
    run("--run", "a", "--csv", str(path))
    assert str(VendorPayout.objects.get().journal_id) in path.read_text()


def test_run_that_was_killed_is_finished_by_the_same_command() -> None:
    first, second = sorted((payee(), payee()), key=lambda profile: profile.store.slug)
    sold(first)
    sold(second)
    with patch("wallet.services.vendor_payouts.audit.record", side_effect=[None, KeyboardInterrupt]), pytest.raises(KeyboardInterrupt):
        run("--run", "a")
    # The second one's transfer was taken back with all of it.
    assert [payout.account.owner for payout in VendorPayout.objects.all()] == [first.user]
    assert list(differences()) == []
    lines = run("--run", "a")
    assert lines[-1] == "Run a: 2 payouts paid, 798.40 INR, 0.00 USD; not paid: 0.00 INR, 0.00 USD."
    assert VendorPayout.objects.count() == 2


def test_dry_run_lists_and_pays_nobody() -> None:
    vendor = payee()
    sold(vendor)
    lines = run("--run", "a", "--dry-run")
    assert lines == [
        "vendor,store,payoutMethod,currency,amount,journal",
        f"{vendor.user.email},{vendor.store.slug},IBAN DE02 1203,INR,399.20,",
        "Run a: 1 payouts due, 399.20 INR, 0.00 USD; not due: 0.00 INR, 0.00 USD.",
    ]
    assert not Journal.objects.filter(kind="payout").exists()


def test_list_is_of_one_vendor_or_currency_where_asked(tmp_path: Path) -> None:
    vendor, other, path = payee(), payee(), tmp_path / "list.csv"
    bought(on_sale(store=vendor.store), funded(usd=1000), currency="USD")
    sold(vendor)
    sold(other)
    run("--run", "a", "--vendor", vendor.store.slug, "--currency", "USD", "--csv", str(path))
    ((name, store, _, currency, amount, journal),) = list(csv.reader(path.read_text().splitlines()))[1:]
    assert (name, store, currency, amount) == (vendor.user.email, vendor.store.slug, "USD", "8.00")
    assert str(VendorPayout.objects.get().journal_id) == journal


@pytest.mark.parametrize("begin", ["=", "+", "-", "@"])
def test_list_holds_no_formula(tmp_path: Path, begin: str) -> None:
    path = tmp_path / "list.csv"
    sold(payee(payout_method=f'{begin}HYPERLINK("http://x","y")'))
    run("--run", "a", "--csv", str(path))
    assert list(csv.reader(path.read_text().splitlines()))[1][2] == f'\'{begin}HYPERLINK("http://x","y")'


def test_second_payout_of_a_run_is_refused_by_the_database() -> None:
    account = sold(payee())
    payout = pay_out(account=account, run="a", minimum_minor=1)
    assert isinstance(payout, VendorPayout)
    leg = Leg(account.pk, payout.journal.transfers.get().credit_id, 1)
    taken = VendorEntry(account.pk, -1)
    journal_id = write_journal(kind=JournalKind.PAYOUT, legs=[leg], currency="INR", reason="twice", actor_id=None, vendor=taken)
    with pytest.raises(IntegrityError, match=r"vendorpayout_once_in_run|UNIQUE"), transaction.atomic():
        VendorPayout.objects.create(run="a", account=account, journal_id=journal_id, payout_method="x")


def test_payout_that_is_not_its_transfer_is_a_difference() -> None:
    account, other = sold(payee()), sold(payee())
    payout = pay_out(account=account, run="a", minimum_minor=1)
    assert isinstance(payout, VendorPayout)
    with unguarded():
        VendorPayout.objects.update(account=other)
    assert list(differences()) == [f"payout {payout.pk} and its transfer differ"]
    with unguarded():
        VendorPayout.objects.all().delete()
    assert list(differences()) == [f"journal {payout.journal_id} pays out in no run"]


@pytest.mark.parametrize("statement", ["UPDATE wallet_vendorpayout SET run = 'b'", "DELETE FROM wallet_vendorpayout"])
def test_record_of_a_payout_is_never_changed(statement: str) -> None:
    pay_out(account=sold(payee()), run="a", minimum_minor=1)
    with pytest.raises(IntegrityError, match="only grows"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("runs", [("a",), ("a", "b")])
def test_payouts_at_once_pay_what_was_earned_once(runs: tuple[str, ...]) -> None:
    account = sold(payee())
    outcomes = outcomes_at_once(*(lambda i=i: pay_out(account=account, run=runs[i % len(runs)], minimum_minor=1) for i in range(THREADS)))
    assert {type(outcome) for outcome in outcomes} <= {VendorPayout, WithheldPayout}
    assert VendorPayout.objects.count() == 1
    assert Transfer.objects.filter(credit__kind="payout").get().amount_minor == SHARE
    assert list(differences()) == []

"""The database itself refuses what the ledger must never hold."""

import uuid
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import IntegrityError, connection, transaction

from library.errors import AlreadyOwned
from library.models import Licence
from library.services.licences import grant_licence
from marketplace.core.errors import InvalidInput
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.bounds import MAX_CREDIT_MINOR
from wallet.errors import InvalidAmount
from wallet.models import Journal, LedgerAccount, Order, Transfer
from wallet.models.ledger import AccountKind
from wallet.selectors import wallet_of, with_transfer_sums
from wallet.services.funding import credit_wallet
from wallet.triggers import LEDGER_TRIGGERS

from .licensee_cases import bought_for
from .tampering import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def transfer() -> Transfer:
    journal = credit_wallet(user=UserFactory(), currency="INR", amount_minor=5000, reason="test", actor=None)
    return journal.transfers.get()


def run(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_change_of_an_entry_is_refused_by_the_database(transfer: Transfer) -> None:
    columns = "id, journal_id, debit_id, credit_id, currency"
    insert = f"INSERT INTO wallet_transfer ({columns}, amount_minor) SELECT {columns}, 1 FROM wallet_transfer"  # noqa: S608 - constants
    statements = [
        "UPDATE wallet_transfer SET amount_minor = 1",
        "UPDATE wallet_journal SET reason = 'other'",
        "DELETE FROM wallet_transfer",
        "DELETE FROM wallet_journal",
        f"{insert} WHERE true ON CONFLICT (id) DO UPDATE SET amount_minor = 1",
    ]
    if connection.vendor == "postgresql":
        connection.check_constraints()
        statements += [f"TRUNCATE {table} CASCADE" for table in ("wallet_transfer", "wallet_journal", "wallet_ledgeraccount")]
    else:
        statements.append(insert.replace("INSERT", "INSERT OR REPLACE"))
    for statement in statements:
        with pytest.raises(IntegrityError, match="append-only"):
            run(statement)
    assert Transfer.objects.get().amount_minor == 5000


def test_overdraft_is_refused_by_the_database(transfer: Transfer) -> None:
    with pytest.raises(IntegrityError, match="no_overdraft"):
        run("UPDATE wallet_ledgeraccount SET balance_minor = -1 WHERE kind = 'wallet'")


def test_currency_kind_and_owner_of_a_ledger_account_cannot_be_changed(transfer: Transfer) -> None:
    owner = UserFactory().pk
    changes: list[dict[str, Any]] = [
        {"currency": "USD"},
        {"kind": "vendor", "may_go_negative": True},
        {"may_go_negative": True},
        {"owner": owner},
    ]
    for change in changes:
        with pytest.raises(IntegrityError, match="the ledger is append-only"), transaction.atomic():
            LedgerAccount.objects.filter(kind="wallet").update(**change)


def moved(transfer: Transfer, **changed: Any) -> None:
    """Add a transfer back to where another one came from."""
    back = {"debit_id": transfer.credit_id, "credit_id": transfer.debit_id, "amount_minor": 1, "currency": "INR"}
    with transaction.atomic():
        Transfer.objects.create(journal=transfer.journal, **(back | changed))


@pytest.mark.parametrize("currency", ["INR", "USD"])
def test_transfer_between_currencies_is_refused(transfer: Transfer, currency: str) -> None:
    dollars = credit_wallet(user=UserFactory(), currency="USD", amount_minor=1, reason="test", actor=None).transfers.get()
    with pytest.raises(IntegrityError):
        moved(transfer, credit_id=dollars.credit_id, currency=currency)


@pytest.mark.parametrize("amount", [0, -1])
def test_transfer_of_zero_is_refused(transfer: Transfer, amount: int) -> None:
    with pytest.raises(IntegrityError, match="transfer_positive"):
        moved(transfer, amount_minor=amount)


def test_transfer_to_itself_is_refused(transfer: Transfer) -> None:
    with pytest.raises(IntegrityError, match="transfer_between_different_accounts"):
        moved(transfer, debit_id=transfer.debit_id)


def test_second_platform_account_of_a_kind_and_currency_is_refused(transfer: Transfer) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        LedgerAccount.objects.create(kind=AccountKind.FUNDING, currency="INR", may_go_negative=True)


def test_journal_is_reversed_once_only(transfer: Transfer) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        # Only a refund of an order undoes anything.
        Journal.objects.create(kind="refund", reason="twice", undoes=transfer.journal)


@pytest.mark.parametrize("change", ["balance_minor = balance_minor + 100", "balance_minor = 100", "entries = entries + 1"])
def test_balance_changed_without_a_journal_can_be_neither_spent_nor_credited(change: str) -> None:
    user, listing = funded(inr=100_000), on_sale(price_inr_minor=100)
    bought(on_sale(price_inr_minor=100), user)
    run(f"UPDATE wallet_ledgeraccount SET {change} WHERE kind = 'wallet'")  # noqa: S608 - constants
    with pytest.raises(IntegrityError, match="does not follow the wallet's last"), transaction.atomic():
        credit_wallet(user=user, currency="INR", amount_minor=5, reason="test", actor=None)
    with pytest.raises(IntegrityError, match="does not follow the wallet's last"), transaction.atomic():
        bought(listing, user)


def test_journal_without_the_columns_of_its_kind_is_refused_by_the_database() -> None:
    user = UserFactory()
    wallet = LedgerAccount.objects.create(kind="wallet", owner=user, currency="INR", may_go_negative=False, entries=1, balance_minor=5)
    vendor = LedgerAccount.objects.create(kind="vendor", owner=user, currency="INR", may_go_negative=True)
    funding: dict[str, Any] = {"kind": "funding", "wallet": wallet, "wallet_entry": 1, "wallet_net_minor": 5, "wallet_balance_minor": 5}
    payout: dict[str, Any] = {"kind": "payout", "vendor": vendor, "vendor_net_minor": -5}
    for wrong in (
        {"kind": "funding"},
        funding | {"wallet_net_minor": None},
        funding | {"wallet_net_minor": -5},
        funding | {"wallet_balance_minor": None},
        {"kind": "payout"},
        payout | {"vendor_net_minor": 5},
        payout | {"vendor_net_minor": None},
    ):
        with unguarded(), pytest.raises(IntegrityError, match="matches_kind"), transaction.atomic():
            Journal.objects.create(reason="test", **wrong)


def test_order_whose_tax_and_shares_differ_from_its_price_is_refused_by_the_database() -> None:
    order = bought(on_sale(tax_rate_bp=1800))
    with pytest.raises(IntegrityError, match="order_parts_make_price"), transaction.atomic():
        Order.objects.filter(pk=order.pk).update(tax_minor=order.tax_minor + 1)


def test_second_live_licence_is_refused_by_the_database() -> None:
    names = ("holder_id", "licensee_email", "claim_sent_at", "listing_id", "tier_id", "terms_id", "deliverable_id")
    for order in (bought(on_sale()), bought_for(on_sale())):
        held = Licence.objects.get(order_id=order.pk)
        facts: dict[str, Any] = {name: getattr(held, name) for name in names}
        facts |= {
            "title": "x",
            "store_name": "x",
            "version": "",
            "ai_training": "forbidden",
            "license_slug": "personal",
            "order_id": uuid.uuid4(),
        }
        with pytest.raises(AlreadyOwned) as refusal, transaction.atomic():
            grant_licence(**facts)
        assert refusal.value.members == {"assetId": str(held.listing_id), "licenseSlug": "personal"}


def test_missing_trigger_stops_the_check_and_migrate_makes_it_again() -> None:
    LEDGER_TRIGGERS.remove(connection)
    try:
        assert len(LEDGER_TRIGGERS.check(databases=["default"])) == len(LEDGER_TRIGGERS.missing(connection)) > 0
        with pytest.raises(SystemCheckError, match=r"core\.E010"):
            call_command("check", databases=["default"])
    finally:
        LEDGER_TRIGGERS.install(connection)
    assert LEDGER_TRIGGERS.missing(connection) == []
    assert LEDGER_TRIGGERS.check(databases=["default"]) == []


@pytest.mark.parametrize(
    ("currency", "amount"),
    [("EUR", 100), ("INR", 0), ("INR", -5), ("USD", MAX_CREDIT_MINOR + 1)],
    ids=["euro", "zero", "negative", "too much"],
)
def test_credit_with_an_invalid_currency_or_amount_or_without_a_reason_is_refused(currency: str, amount: int) -> None:
    user = UserFactory()
    with pytest.raises(InvalidAmount):
        credit_wallet(user=user, currency=currency, amount_minor=amount, reason="test", actor=None)
    with pytest.raises(InvalidInput):
        credit_wallet(user=user, currency="INR", amount_minor=1, reason="  ", actor=None)
    assert LedgerAccount.objects.count() == 0
    credit_wallet(user=user, currency="USD", amount_minor=MAX_CREDIT_MINOR, reason="Exactly the most.", actor=None)
    assert wallet_of(user).balance_usd_minor == MAX_CREDIT_MINOR


def test_credit_beyond_exactly_representable_numbers_is_refused(transfer: Transfer) -> None:
    user = transfer.credit.owner
    assert user is not None
    LedgerAccount.objects.filter(pk=transfer.credit_id).update(balance_minor=2**53 - 1)
    with pytest.raises(InvalidAmount):
        credit_wallet(user=user, currency="INR", amount_minor=1, reason="test", actor=None)


def test_credit_is_a_transfer_with_actor_reason_and_time() -> None:
    admin, user = UserFactory(), UserFactory()
    journal = credit_wallet(user=user, currency="USD", amount_minor=1234, reason="Invoice 7", actor=admin)
    assert (journal.actor, journal.reason, journal.kind) == (admin, "Invoice 7", "funding")
    entry = journal.transfers.get()
    assert (entry.debit.kind, entry.credit.kind, entry.amount_minor, entry.currency) == ("funding", "wallet", 1234, "USD")
    assert (
        wallet_of(user).balance_usd_minor
        == with_transfer_sums(LedgerAccount.objects.filter(pk=entry.credit_id)).get().transfers_minor
        == 1234
    )
    assert wallet_of(user).balance_inr_minor == 0

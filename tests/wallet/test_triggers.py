"""The ledger's triggers outlive migrations, and the service's own role cannot lift them."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, ProgrammingError, connection, models, transaction
from django.utils import timezone

from marketplace.review import claims
from tests.callers import said
from tests.shop import bought, funded, on_sale
from wallet.models import Journal, LedgerAccount, Order, Transfer, WalletPayout
from wallet.reconciliation import differences
from wallet.selectors import wallet_of
from wallet.services.digests import digest_ledger
from wallet.services.refunds import refund_order
from wallet.services.wallet_payouts import pay_wallet_payout
from wallet.triggers import LEDGER_TRIGGERS

from .payees import account_of, paid_payout, payee
from .wallet_payout_cases import requested_payout

pytestmark = pytest.mark.database

ROLE = "shop_app_under_test"
CHANGES = [
    "UPDATE wallet_transfer SET amount_minor = 1",
    "DELETE FROM wallet_transfer",
    "UPDATE wallet_journal SET reason = 'other'",
    "DELETE FROM wallet_journal",
    "UPDATE wallet_ledgeraccount SET currency = 'USD'",
]


def run(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def altered() -> Iterator[None]:
    """Alter each table of the ledger as a migration does, and back again."""
    widened: list[tuple[type[models.Model], str]] = [(Journal, "request_id"), (Transfer, "currency")]
    if connection.vendor == "sqlite":
        # PostgreSQL refuses to alter a column that a trigger reads.
        widened.append((LedgerAccount, "currency"))
    for forth in (True, False):
        for model, name in widened:
            old: Any = model._meta.get_field(name)
            new = old.clone()
            new.max_length = 80
            new.set_attributes_from_name(name)
            new.model = model
            with connection.schema_editor() as editor:
                editor.alter_field(model, *((old, new) if forth else (new, old)))
        if forth:
            yield
    call_command("migrate", verbosity=0, skip_checks=True)


@pytest.mark.django_db(transaction=True)
def test_migrate_restores_the_triggers_after_a_migration_that_alters_the_ledger(altered: None) -> None:
    if connection.vendor == "sqlite":
        assert LEDGER_TRIGGERS.missing(connection), "SQLite no longer drops the triggers of a table that is made anew"
    call_command("migrate", verbosity=0, skip_checks=True)
    assert LEDGER_TRIGGERS.missing(connection) == []
    order = bought(on_sale())
    for change in CHANGES:
        with pytest.raises(IntegrityError):
            run(change)
    if connection.vendor == "sqlite":
        with pytest.raises(IntegrityError, match="append-only"):
            run("INSERT OR REPLACE INTO wallet_transfer SELECT * FROM wallet_transfer")
    else:
        with pytest.raises(IntegrityError, match="append-only"):
            run("TRUNCATE wallet_transfer")
    assert Transfer.objects.filter(journal__order=order).count() == 2
    assert list(differences()) == []


@pytest.fixture
def role() -> Iterator[None]:
    """Act as the role that the command's SQL makes."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE}")
        cursor.execute(said("database_role", ROLE))
    yield
    # The transaction of the test takes the role with it.
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")


@pytest.mark.postgres
@pytest.mark.django_db
def test_role_of_the_service_buys_and_refunds_and_cannot_rewrite_anything(role: None) -> None:
    user, vendor = funded(inr=100_000), payee()
    listings = [on_sale(), on_sale(tax_rate_bp=1800, store=vendor.store)]
    run(f"SET ROLE {ROLE}")
    refund_order(order=bought(listings[0], user), reason="test", actor=None)
    bought(listings[1], user)
    assert paid_payout(account_of(vendor)).status == "Paid"
    wallet_payout = requested_payout(user, 100)
    claims.claim(row=wallet_payout, waiting=WalletPayout.objects.all(), own=False, noun="wallet_payout", actor=vendor.user)
    pay_wallet_payout(wallet_payout=wallet_payout, reference="T1", actor=vendor.user)
    WalletPayout.objects.update(payment_details="")
    assert len(list(digest_ledger(until=timezone.now()))) == 1
    connection.check_constraints()
    assert wallet_of(user).balance_inr_minor == 100_000 - 49_900 - 100
    assert list(differences()) == []
    for change in (
        *CHANGES,
        "UPDATE wallet_ledgerdigest SET digest = ''",
        "DELETE FROM wallet_coveredjournal",
        "DELETE FROM wallet_vendorpayout",
        "UPDATE wallet_vendorpayout SET account_id = details_id",
        "UPDATE wallet_payoutbatch SET run = 'b'",
        "DELETE FROM wallet_walletpayout",
        "TRUNCATE wallet_walletpayout",
        "UPDATE wallet_walletpayout SET hold_id = closing_journal_id",
        "TRUNCATE wallet_ledgerdigest CASCADE",
        "UPDATE wallet_ledgeraccount SET may_go_negative = true",
        "DELETE FROM wallet_ledgeraccount",
        "DELETE FROM core_auditentry",
        "TRUNCATE wallet_transfer",
        "TRUNCATE wallet_ledgeraccount CASCADE",
        "ALTER TABLE wallet_transfer DISABLE TRIGGER ALL",
        "DROP TRIGGER wallet_transfer_append_only ON wallet_transfer",
        "DROP TABLE wallet_transfer",
        "DELETE FROM django_migrations",
        "SET session_replication_role = replica",
    ):
        with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"):
            run(change)
    assert Order.objects.count() == 2


def test_database_role_with_an_invalid_name_is_refused() -> None:
    for name in ("", "x;drop", 'x"', "X", "x" * 64):
        with pytest.raises(CommandError, match="is not a plain name"):
            call_command("database_role", name)

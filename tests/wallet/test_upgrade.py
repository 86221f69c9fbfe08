"""A database that was in use before orders, licences and journals told all that they tell now: its migrations tell it."""

from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from library.models import Licence
from marketplace.accounts.models import User
from marketplace.core.money import tax_inside
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.guards import LEDGER
from wallet.models import Journal, LedgerAccount, LedgerSeal, Order, Payout, Quote
from wallet.models.ledger import AccountKind
from wallet.reconciliation import differences
from wallet.services.funding import credit_wallet
from wallet.services.offers import Wish
from wallet.services.payouts import pay_out
from wallet.services.quotes import make_quote
from wallet.services.refunds import refund_order
from wallet.services.sealing import seal_ledger
from wallet.services.spending import spend

from .payees import earned, payee
from .spenders import limit, own_key, personal

pytestmark = [pytest.mark.database, pytest.mark.full]

SNAPSHOTS = import_module("wallet.migrations.0006_snapshots_and_entries")
BEFORE = [("wallet", "0005_payouts_and_seals"), ("library", "0001_initial")]
# The triggers of that time: the chain came with what it chains.
SINCE = {"wallet_journal_follows"}


def used_shop() -> tuple[User, User]:
    """Return a buyer and a vendor after a life of buying, refunds, a payout and sealing."""
    vendor = payee()
    listing = on_sale(store=vendor.store, tax_rate_bp=1800, version="1.2")
    other = on_sale(store=vendor.store, tax_rate_bp=500)
    buyer = funded(inr=1_000_000, usd=50_000)
    token = personal(buyer)
    limit(token, currency="USD", total_minor=50_000)
    bought(listing, buyer)
    spend(buyer=buyer, wish=Wish(str(other.id), currency="USD"), principal=token)
    spend(buyer=buyer, wish=Wish(str(other.id), license_slug="commercial"), principal=own_key(buyer))
    refund_order(order=bought(listing, funded(inr=49_900)), reason="test", actor=None)
    bought(on_sale(base_price_minor=0, price_inr_minor=0), buyer)
    bought(on_sale(store=vendor.store, price_inr_minor=1, tax_rate_bp=1800), buyer)
    late = bought(listing, funded(inr=100_000))
    for account in LedgerAccount.objects.filter(kind=AccountKind.VENDOR, owner=vendor.user):
        pay_out(account=account, run="2026-11", minimum_minor=1)
    refund_order(order=late, reason="test", actor=None)
    credit_wallet(user=buyer, currency="INR", amount_minor=5, reason="test", actor=None)
    make_quote(buyer=buyer, wish=Wish(str(listing.id), license_slug="extended"))
    assert list(seal_ledger(until=timezone.now()))
    return buyer, vendor.user


def facts(model: type[models.Model]) -> list[dict[str, Any]]:
    return list(model._default_manager.order_by("pk").values())


def guard_as_then() -> None:
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        for trigger in LEDGER.triggers(connection.vendor):
            if trigger.table in tables and trigger.name not in SINCE:
                cursor.execute(trigger.drop(connection.vendor))
                cursor.execute(trigger.create(connection.vendor))


@pytest.fixture
def back_in_time() -> Iterator[Any]:
    """Return a function that takes the database back to before; afterwards it is as it should be."""

    def go() -> Any:
        if connection.vendor == "sqlite":
            LEDGER.remove(connection)
        apps = MigrationExecutor(connection).migrate(BEFORE).apps
        guard_as_then()
        return apps

    yield go
    call_command("migrate", verbosity=0, skip_checks=True)


@pytest.mark.django_db(transaction=True)
def test_a_used_database_is_upgraded_and_its_books_agree(back_in_time: Any) -> None:
    buyer, vendor = used_shop()
    told = {model: facts(model) for model in (Order, Licence, Quote, Journal, Payout)}
    owed, wallets = earned(vendor), list(LedgerAccount.objects.filter(kind="wallet").order_by("pk").values())
    then = back_in_time()
    seal = then.get_model("wallet", "LedgerSeal").objects.create(number=1, digest="0" * 64, journals=1)
    sealed = then.get_model("wallet", "Journal").objects.order_by("pk").first()
    then.get_model("wallet", "SealedJournal").objects.create(seal=seal, journal=sealed, position=0, digest="0" * 64)

    call_command("migrate", verbosity=0, skip_checks=True)

    assert {model: facts(model) for model in told} == told
    assert list(LedgerAccount.objects.filter(kind="wallet").order_by("pk").values()) == wallets
    assert LEDGER.missing(connection) == []
    assert not LedgerSeal.objects.exists()
    assert earned(vendor) == owed
    assert list(differences()) == []
    list(seal_ledger(until=timezone.now()))
    assert earned(vendor) == owed
    bought(on_sale(), buyer)
    first = Order.objects.filter(buyer=buyer, status="Completed", price_minor__gt=0).earliest("created_at")
    refund_order(order=first, reason="test", actor=None)
    assert list(differences()) == []


@pytest.mark.django_db(transaction=True)
def test_what_machines_with_other_clocks_wrote_is_put_in_an_order_that_overdraws_nothing(back_in_time: Any) -> None:
    buyer = UserFactory()
    funding = credit_wallet(user=buyer, currency="INR", amount_minor=49_900, reason="test", actor=None)
    bought(on_sale(), buyer)
    then = back_in_time()
    LEDGER.remove(connection)
    then.get_model("wallet", "Journal").objects.filter(pk=funding.pk).update(at=timezone.now() + timedelta(seconds=5))
    guard_as_then()

    call_command("migrate", verbosity=0, skip_checks=True)

    entries = Journal.objects.filter(wallet__owner=buyer).order_by("wallet_entry").values_list("kind", "wallet_balance_minor")
    assert list(entries) == [("funding", 49_900), ("sale", 0)]
    assert list(differences()) == []


@pytest.mark.parametrize(("price", "present"), [(49_900, 0), (49_900, 500), (1, 1800), (99, 1800), (9_007_199, 18)])
def test_a_rate_that_changed_since_is_told_from_the_tax_that_was_paid(price: int, present: int) -> None:
    for rate in (0, 1, 500, 1800, 1825, 10_000):
        tax = tax_inside(price, rate)
        assert tax_inside(price, SNAPSHOTS._rate(price, tax, present)) == tax
    assert SNAPSHOTS._rate(49_900, tax_inside(49_900, 1800), present) == 1800
    assert SNAPSHOTS._rate(49_900, tax_inside(49_900, 500), 500) == 500

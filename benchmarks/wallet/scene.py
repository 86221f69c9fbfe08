"""Creates assets and buyers for the benchmark, by SQL because of their number."""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from catalog.models import Listing
from developers.services.credentials import issue_api_key
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope, format_scopes
from tests.factories import AppFactory
from tests.shop import funded, on_sale

PRICE_MINOR = 100
PLENTY_MINOR = 10_000_000_000
SPEND = format_scopes(frozenset({Scope.WALLET_SPEND}))


def stock(count: int) -> list[UUID]:
    """Return assets on sale: copies of one, by one vendor, so that all purchases share the vendor's and the platform's accounts."""
    first = on_sale(price_inr_minor=PRICE_MINOR, tax_rate_bp=1800)
    columns = _columns(Listing, "id", "slug")
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO catalog_listing (id, slug, {columns}) SELECT gen_random_uuid(), 'copy-' || %s || '-' || n, {columns} "  # noqa: S608 - our own columns
            "FROM catalog_listing, generate_series(1, %s) AS n WHERE id = %s RETURNING id",
            [first.slug, count, first.pk],
        )
        return [row[0] for row in cursor.fetchall()]


def crowd(count: int) -> list[UUID]:
    """Return users whose wallets hold the price of one purchase, each credited by a journal."""
    first = funded(inr=PLENTY_MINOR)
    columns = _columns(User, "id", "email")
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO accounts_user (id, email, {columns}) SELECT gen_random_uuid(), n || '-of-' || %s, {columns} "  # noqa: S608 - our own columns
            "FROM accounts_user, generate_series(1, %s) AS n WHERE id = %s RETURNING id",
            [first.email, count, first.pk],
        )
        owners = [row[0] for row in cursor.fetchall()]
        cursor.execute(
            "INSERT INTO wallet_ledgeraccount (id, kind, owner_id, currency, may_go_negative, balance_minor, entries) "
            "SELECT gen_random_uuid(), 'wallet', owner, 'INR', false, %s, 1 FROM unnest(%s::uuid[]) owner",
            [PRICE_MINOR, owners],
        )
        cursor.execute(
            "INSERT INTO wallet_journal (id, kind, at, reason, request_id, wallet_id, wallet_entry, wallet_net_minor, wallet_balance_minor) "
            "SELECT gen_random_uuid(), 'funding', now(), 'benchmark', '', id, 1, %s, %s FROM wallet_ledgeraccount WHERE owner_id = ANY(%s)",
            [PRICE_MINOR, PRICE_MINOR, owners],
        )
        cursor.execute(
            "INSERT INTO wallet_transfer (id, journal_id, debit_id, credit_id, amount_minor, currency) "
            "SELECT gen_random_uuid(), journal.id, funding.id, journal.wallet_id, %s, 'INR' FROM wallet_journal journal "
            "JOIN wallet_ledgeraccount wallet ON wallet.id = journal.wallet_id, wallet_ledgeraccount funding "
            "WHERE wallet.owner_id = ANY(%s) AND funding.kind = 'funding' AND funding.currency = 'INR'",
            [PRICE_MINOR, owners],
        )
    return owners


def keys_of(owners: Iterable[UUID]) -> dict[UUID, str]:
    """Return an API key for each user, of an app of their own, so that no spending limit is needed."""
    return {user.pk: _key(user) for user in User.objects.filter(pk__in=owners)}


def _key(user: User) -> str:
    app = AppFactory(user=user, granted_scopes=SPEND)
    return issue_api_key(app=app, name="benchmark", actor=user)[1]


def _columns(model: type[Listing] | type[User], *without: str) -> str:
    return ", ".join(
        connection.ops.quote_name(str(field.column))
        for field in model._meta.concrete_fields
        if not field.generated and field.name not in without
    )

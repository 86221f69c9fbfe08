"""The two sides: processes that call the service, and pgbench with the statements that the service was seen to send."""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection, connections

from catalog.models import Listing
from marketplace.accounts.models import User
from tests.servers.postgres import find_programs
from tests.shop import funded, on_sale
from wallet.models import LedgerAccount, Order
from wallet.reconciliation import differences
from wallet.services.offers import Wish
from wallet.services.spending import spend

PRICE_MINOR = 100
PLENTY_MINOR = 10_000_000_000
GOAL = 0.40
# More than anybody buys in a row of the table.
LISTINGS_A_SECOND = 1_500
_UUID = re.compile(r"'([0-9a-f]{8}-[0-9a-f-]{27})'::uuid|'([0-9a-f]{32})'")


def measure(seconds: int, clients: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| wallets | side | purchases a second | ratio | goal |"
    yield "|---|---|---|---|---|"
    for name, count in (("one", 1), ("many", clients)):
        buyers = [funded(inr=PLENTY_MINOR) for _ in range(count)]
        listings = stock(seconds * LISTINGS_A_SECOND * 2)
        statements = seen_statements(listings.pop(), buyers[0])
        half = len(listings) // 2
        raw = pgbench(statements, buyers, listings[:half], seconds, clients)
        ours = service(buyers, listings[half:], seconds, clients)
        yield f"| {name} | pgbench, {len(statements)} statements | {raw:,.0f} | | |"
        yield f"| {name} | service | {ours:,.0f} | {ours / raw:.2f} | ≥ {GOAL}: {'met' if ours / raw >= GOAL else '**missed**'} |"
    # What pgbench wrote is as good as ours.
    found = list(differences())
    yield ""
    yield f"Afterwards the books of {Order.objects.count():,} orders {'differ: ' + found[0] if found else 'agree'}."


def stock(count: int) -> list[UUID]:
    """Return many assets for sale: copies of one, of one vendor, so that its accounts and the platform's are everyone's."""
    first = on_sale(price_inr_minor=PRICE_MINOR, tax_rate_bp=1800)
    columns = ", ".join(
        connection.ops.quote_name(str(field.column))
        for field in Listing._meta.concrete_fields
        if not field.generated and field.name not in {"id", "slug"}
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO catalog_listing (id, slug, {columns}) SELECT gen_random_uuid(), 'copy-' || %s || '-' || n, {columns} "  # noqa: S608 - our own columns
            "FROM catalog_listing, generate_series(1, %s) AS n WHERE id = %s RETURNING id",
            [first.slug, count, first.pk],
        )
        return [row[0] for row in cursor.fetchall()]


def seen_statements(listing: UUID, buyer: User) -> list[str]:
    """Buy once, and return what was sent, with variables for the ids that differ from purchase to purchase."""
    wish = Wish(str(listing), "INR")
    # The vendor's and the platform's accounts are open from here on.
    spend(buyer=funded(inr=PLENTY_MINOR), wish=wish)
    sent: list[str] = []

    def listen(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        sent.append(context["cursor"].cursor._query.query.decode())
        return answer

    with connection.execute_wrapper(listen):
        spend(buyer=buyer, wish=wish)
    wallet = LedgerAccount.objects.get(owner=buyer, kind="wallet").pk
    names = {str(listing): "listing", str(buyer.pk): "buyer", str(wallet): "wallet"}
    order = Order.objects.get(buyer=buyer, listing=listing)
    known = {
        str(order.tier_id),
        str(order.deliverable_id),
        *(str(pk) for pk in LedgerAccount.objects.exclude(owner=buyer).values_list("pk", flat=True)),
    }
    known |= {str(pk) for pk in Listing.objects.filter(pk=listing).values_list("store__owner_id", flat=True)}

    def variable(match: re.Match[str]) -> str:
        found = str(UUID(match[1] or match[2]))
        if found in known:
            return match[0]
        return f"':{names.setdefault(found, f'id{len(names)}')}'::uuid"

    return [" ".join(_UUID.sub(variable, statement).split()) for statement in sent]


def pgbench(statements: Sequence[str], buyers: Sequence[User], listings: Sequence[UUID], seconds: int, clients: int) -> float:
    """Return the transactions a second of pgbench. One statement more chooses what to buy, and makes the ids."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_listing, bench_buyer; DROP SEQUENCE IF EXISTS bench_next; CREATE SEQUENCE bench_next")
        cursor.execute(
            "CREATE TABLE bench_listing (n bigint PRIMARY KEY, id uuid); CREATE TABLE bench_buyer (n int PRIMARY KEY, id uuid, wallet uuid)"
        )
        cursor.executemany("INSERT INTO bench_listing VALUES (%s, %s)", list(enumerate(listings, 1)))
        wallets = dict(LedgerAccount.objects.filter(kind="wallet").values_list("owner_id", "pk"))
        cursor.executemany("INSERT INTO bench_buyer VALUES (%s, %s, %s)", [(n, user.pk, wallets[user.pk]) for n, user in enumerate(buyers)])
        cursor.execute("ANALYZE")
    fresh = sorted({name for statement in statements for name in re.findall(r"':(id\d+)'", statement)})
    ids = ", ".join(f"gen_random_uuid() AS {name}" for name in fresh)
    choose = (
        f"SELECT l.id AS listing, b.id AS buyer, b.wallet AS wallet, {ids} FROM (SELECT nextval('bench_next') AS n) s "  # noqa: S608 - our own names
        f"JOIN bench_listing l USING (n), bench_buyer b WHERE b.n = :client_id % {len(buyers)} \\gset"
    )
    script = "\n".join([choose, "BEGIN;", *(f"{statement};" for statement in statements), "COMMIT;", ""])
    options = connection.settings_dict
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "purchase.sql"
        path.write_text(script)
        connections.close_all()
        result = subprocess.run(
            [
                *(programs() / "pgbench", "-n", "-f", path, "-c", str(clients), "-j", "2", "-T", str(seconds)),
                *("-h", options["HOST"], "-p", str(options["PORT"]), "-U", options["USER"], options["NAME"]),
            ],
            env=os.environ | {"PGPASSWORD": options["PASSWORD"]},
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"tps = ([\d.]+)", result.stdout)
    if result.returncode or found is None:
        raise RuntimeError(result.stdout + result.stderr)
    return float(found[1])


def programs() -> Path:
    """Return the folder of pgbench: it comes with the server."""
    found = find_programs()
    if found is None:
        raise RuntimeError("PostgreSQL is not installed")
    return found


def service(buyers: Sequence[User], listings: Sequence[UUID], seconds: int, clients: int) -> float:
    """Return the purchases a second of forked processes that call the service."""
    connections.close_all()
    share = len(listings) // clients
    before = Order.objects.count()
    connections.close_all()
    began = time.monotonic()
    children = []
    for number in range(clients):
        child = os.fork()
        if not child:
            buy(buyers[number % len(buyers)], listings[number * share : (number + 1) * share], began + seconds)
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError("a client failed")
    return (Order.objects.count() - before) / (time.monotonic() - began)


def buy(buyer: User, listings: Sequence[UUID], until: float) -> None:
    """Buy one after the other until the time is over, then end this process."""
    code = 1
    try:
        for listing in listings:
            if time.monotonic() > until:
                code = 0
                break
            spend(buyer=buyer, wish=Wish(str(listing), "INR"))
    finally:
        connections.close_all()
        os._exit(code)

"""Two of the compared sides: processes that call the service, and pgbench with the statements that the service sends."""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection, connections
from psycopg import ClientCursor

from catalog.models import Listing
from marketplace.accounts.models import User
from tests.servers.postgres import find_programs
from tests.shop import funded
from wallet.models import LedgerAccount, Order
from wallet.services.offers import PurchaseRequest
from wallet.services.spending import spend

from .scene import PLENTY_MINOR

_UUID = re.compile(r"'([0-9a-f]{8}-[0-9a-f-]{27})'::uuid|'([0-9a-f]{32})'")
_DEBIT = "UPDATE wallet_ledgeraccount"
# The columns of a journal that repeat what the debit returned: the placeholder of the value, and the variable of pgbench.
_REPEATED = {"wallet_balance_minor": (-7_770_001, ":debit_balance"), "wallet_entry": (-7_770_002, ":debit_entry")}


def seen_statements(listing: UUID) -> list[str]:
    """Buy once; return the statements that were sent, with variables for the values that differ between purchases."""
    purchase = PurchaseRequest(str(listing), "INR")
    # The first purchase opens the vendor's and the platform's accounts.
    spend(buyer=funded(inr=PLENTY_MINOR), purchase=purchase)
    buyer = funded(inr=PLENTY_MINOR)
    sent: list[str] = []

    def listen(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        sent.append(ClientCursor(connection.connection).mogrify(sql, _marked(sql, params)))
        return answer

    with connection.execute_wrapper(listen):
        spend(buyer=buyer, purchase=purchase)
    names = {str(listing): "listing", str(buyer.pk): "buyer"}
    names[str(LedgerAccount.objects.get(owner=buyer, kind="wallet").pk)] = "debit_wallet"
    order = Order.objects.get(buyer=buyer, listing=listing)
    known = {
        str(order.tier_id),
        str(order.terms_id),
        str(order.deliverable_id),
        *(str(pk) for pk in LedgerAccount.objects.exclude(owner=buyer).values_list("pk", flat=True)),
        str(Listing.objects.values_list("store__owner_id", flat=True).get(pk=listing)),
    }

    def variable(match: re.Match[str]) -> str:
        found = str(UUID(match[1] or match[2]))
        if found in known:
            return match[0]
        return f"':{names.setdefault(found, f'id{len(names)}')}'::uuid"

    statements = [" ".join(_UUID.sub(variable, statement).split()) for statement in sent]
    for mark, name in _REPEATED.values():
        statements = [statement.replace(str(mark), name) for statement in statements]
    return statements


def _marked(sql: str, params: Any) -> Any:
    """Return the parameters, with placeholders where a journal repeats what the debit returned."""
    if not sql.startswith("INSERT INTO wallet_journal"):
        return params
    columns = re.findall(r'"(\w+)"', sql.partition(" VALUES ")[0])
    return [_REPEATED[column][0] if column in _REPEATED else value for column, value in zip(columns, params, strict=True)]


def pgbench(statements: Sequence[str], pairs: Sequence[tuple[UUID, UUID]], seconds: int, clients: int) -> float:
    """Return the transactions per second of pgbench, in which one more statement chooses buyer and listing and creates the ids."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_pair; DROP SEQUENCE IF EXISTS bench_next; CREATE SEQUENCE bench_next")
        cursor.execute("CREATE TABLE bench_pair (n bigint PRIMARY KEY, buyer uuid, listing uuid)")
        cursor.executemany("INSERT INTO bench_pair VALUES (%s, %s, %s)", [(n, *pair) for n, pair in enumerate(pairs, 1)])
        cursor.execute("ANALYZE")
    fresh = sorted({name for statement in statements for name in re.findall(r"':(id\d+)'", statement)})
    ids = ", ".join(f"gen_random_uuid() AS {name}" for name in fresh)
    choose = f"SELECT buyer, listing, {ids} FROM (SELECT nextval('bench_next') AS n) s JOIN bench_pair USING (n) \\gset"  # noqa: S608 - our own names
    ended = [f"{statement} \\gset debit_" if statement.startswith(_DEBIT) else f"{statement};" for statement in statements]
    script = "\n".join([choose, "BEGIN;", *ended, "COMMIT;", ""])
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
    """Return the folder of pgbench, which is installed with the server."""
    found = find_programs()
    if found is None:
        raise RuntimeError("PostgreSQL is not installed")
    return found


def service(pairs: Sequence[tuple[UUID, UUID]], seconds: int, clients: int) -> float:
    """Return the purchases per second of forked processes that call the service."""
    before = Order.objects.count()
    owners = User.objects.in_bulk({buyer for buyer, _ in pairs})
    connections.close_all()
    began = time.monotonic()
    children = []
    for number in range(clients):
        child = os.fork()
        if not child:
            buy([(owners[buyer], listing) for buyer, listing in pairs[number::clients]], began + seconds)
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError("a client failed")
    return (Order.objects.count() - before) / (time.monotonic() - began)


def buy(purchases: Sequence[tuple[User, UUID]], until: float) -> None:
    """Make the purchases one after the other until the time is over, then end this process."""
    code = 1
    try:
        for buyer, listing in purchases:
            if time.monotonic() > until:
                break
            spend(buyer=buyer, purchase=PurchaseRequest(str(listing), "INR"))
        code = 0
    finally:
        connections.close_all()
        os._exit(code)

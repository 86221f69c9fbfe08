"""Compares calls over HTTP, processes that call the service, and pgbench with the statements that the service sends."""

from collections.abc import Iterator

from tests.shop import funded
from wallet.models import Order
from wallet.reconciliation import differences

from .over_http import over_http
from .scene import PLENTY_MINOR, crowd, keys_of, stock
from .sides import pgbench, seen_statements, service

GOAL = 0.40
# More purchases per second than any row of the table reaches.
A_SECOND = 1_500
# Fewer over HTTP, where each wallet needs an API key, and these are created one by one.
HTTP_A_SECOND = 400


def measure(seconds: int, clients: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| wallets | assets | side | purchases a second | ratio | goal |"
    yield "|---|---|---|---|---|---|"
    enough = seconds * A_SECOND * 2
    for name, owners, listings in (("one", 1, enough), ("many", clients, enough), ("many", enough, 1)):
        buyers = [funded(inr=PLENTY_MINOR).pk for _ in range(owners)] if owners <= clients else crowd(owners)
        assets = stock(listings)
        pairs = [(buyers[number % len(buyers)], assets[number % len(assets)]) for number in range(enough)]
        what = "many" if listings > 1 else "one"
        statements = seen_statements(assets[0])
        raw = pgbench(statements, pairs[0::2], seconds, clients)
        yield f"| {name} | {what} | pgbench, {len(statements)} statements | {raw:,.0f} | | |"
        ours = service(pairs[1::2][seconds * HTTP_A_SECOND :], seconds, clients)
        goal = f"≥ {GOAL}: {'met' if ours / raw >= GOAL else '**missed**'}"
        yield f"| {name} | {what} | service | {ours:,.0f} | {ours / raw:.2f} | {goal} |"
        called = pairs[1::2][: seconds * HTTP_A_SECOND]
        keys = keys_of({buyer for buyer, _ in called})
        http = over_http([(keys[buyer], listing) for buyer, listing in called], seconds, clients)
        yield f"| {name} | {what} | HTTP, granian | {http:,.0f} | {http / raw:.2f} | |"
    # This includes what pgbench wrote.
    found = list(differences())
    yield ""
    yield f"Afterwards the ledger of {Order.objects.count():,} orders {'differ: ' + found[0] if found else 'agree'}."

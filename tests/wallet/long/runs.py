"""The runs themselves, on a database that is there."""

import argparse
import gc
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

from django.db import DatabaseError, connections
from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test
from rich.console import Console

from library.models import Licence
from marketplace.core.errors import Problem
from tests.servers.postgres import Cluster
from tests.shop import funded, on_sale
from tests.wallet.faulty_events import FaultyEvents
from tests.wallet.killed_clients import Buying, killed_at_random
from tests.wallet.stateful.base import make_world
from tests.wallet.stateful.machine import HISTORIES, Wallets
from wallet.models import Order
from wallet.reconciliation import differences
from wallet.services.funding import credit_wallet
from wallet.services.offers import PurchaseRequest
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from .batches import record_of

CLIENTS = 16
TIERS = ("personal", "commercial", "extended")
BROKEN = "broken"
console = Console(width=160)


def run(options: argparse.Namespace, cluster: Cluster | None) -> int:
    if options.command == "histories":
        return histories(options)
    if options.command == "races":
        return races(options.operations)
    if options.command == "events":
        return events(options.events)
    assert cluster is not None
    return kills(options.clients, options.servers, cluster)


def histories(options: argparse.Namespace) -> int:
    """Run batch after batch until there were enough operations; each history ends with a reconciliation."""
    record = record_of(options.seed, options.record)
    many = settings(HISTORIES, max_examples=options.batch_size)
    Wallets.world = make_world()
    # What there is now stays: the collector need not look at it again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
    if options.batch is not None:
        run_batch(options.seed, options.batch, many)
        return 0
    # A process has every so many-th batch.
    for number in count(options.part, options.processes):
        if number in record.batches():
            continue
        if record.outcomes().total() >= options.operations:
            break
        Wallets.outcomes.clear()
        run_batch(options.seed, number, many)
        record.add(number, Wallets.outcomes)
        console.print(f"{record.outcomes().total():,} of {options.operations:,} operations")
    return 0


def run_batch(of: int, number: int, many: settings) -> None:
    try:
        run_state_machine_as_test(seed(f"{of} {number}")(Wallets), settings=many)
    except Exception:
        console.print(f"batch {number} failed: repeat it with --seed {of} --batch {number}")
        raise


class Crowd:
    """Clients that buy, refund and credit the same few wallets and assets."""

    def __init__(self, operations: int) -> None:
        self.buyers = [funded(inr=1_000_000, usd=10_000) for _ in range(4)]
        self.listings = [on_sale(tax_rate_bp=1800) for _ in range(4)]
        self.left = threading.Semaphore(operations)
        self.outcomes: Counter[str] = Counter()

    def buy(self) -> None:
        purchase = PurchaseRequest(str(random.choice(self.listings).pk), random.choice(["INR", "USD"]), random.choice(TIERS))
        key = random.choice([None, "a", "b", str(random.random())])
        spend(buyer=random.choice(self.buyers), purchase=purchase, idempotency_key=key)

    def refund(self) -> None:
        # By what is owned, which stays little: refunded orders pile up.
        owned = list(Licence.objects.filter(holder=random.choice(self.buyers), revoked_at=None).values_list("order_id", flat=True))
        if owned:
            refund_order(order=Order(pk=random.choice(owned)), reason="race", actor=None)

    def credit(self) -> None:
        buyer, currency = random.choice(self.buyers), random.choice(["INR", "USD"])
        credit_wallet(user=buyer, currency=currency, amount_minor=random.randint(1, 50_000), reason="race", actor=None)

    def client(self) -> None:
        actions: list[Callable[[], Any]] = [self.buy, self.buy, self.buy, self.refund, self.refund, self.credit]
        while self.left.acquire(blocking=False):
            action = random.choice(actions)
            try:
                action()
                outcome = f"{action.__name__} done"
            except Problem as problem:
                outcome = f"{action.__name__} {problem.code}"
            except DatabaseError as error:
                outcome = f"{BROKEN}: {error}"
            self.outcomes[outcome] += 1
        connections.close_all()


def races(operations: int) -> int:
    """Let 16 clients use the same wallets and assets: there is no deadlock, and the ledger agrees."""
    crowd, began = Crowd(operations), time.monotonic()
    threads = [threading.Thread(target=crowd.client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    console.print(f"{crowd.outcomes.total()} operations by {CLIENTS} clients in {time.monotonic() - began:.0f} s")
    console.print(dict(crowd.outcomes.most_common()))
    broken = any(outcome.startswith(BROKEN) for outcome in crowd.outcomes)
    return 0 if agree() and not broken else 1


def events(number: int) -> int:
    """Let 16 clients send events of payment providers, doubled, reordered, late and forged: nothing counts twice, nothing forged at all."""
    sent_events, began = FaultyEvents(number, random.Random()), time.monotonic()
    sent_events.send_all(threads=CLIENTS)
    sent = sent_events.responses.total()
    console.print(f"{sent} events of {len(sent_events.payments)} payments by {CLIENTS} clients in {time.monotonic() - began:.0f} s")
    console.print({" ".join(map(str, response)).strip(): count for response, count in sent_events.responses.most_common()})
    console.print(dict(Counter(payment.plan for payment in sent_events.payments).most_common()))
    wrong = list(sent_events.wrong())
    for sentence in wrong:
        console.print(sentence)
    return 1 if wrong else 0


def kills(clients: int, servers: int, cluster: Cluster) -> int:
    """Kill clients, then servers, in the middle of purchases and refunds: nothing acknowledged is lost, nothing is half done."""
    buying, killed = Buying.prepare(buyers=4), 0
    while killed < clients:
        killed += killed_at_random(buying, seconds=0.5)
        if not agree(buying):
            return 1
    console.print(f"{killed} clients killed: {len(buying.acknowledged)} purchases acknowledged, none lost")
    for number in range(servers):
        killed_at_random(buying, seconds=1, before=cluster.kill)
        cluster.start()
        if not agree(buying):
            return 1
        console.print(f"server killed {number + 1} times: {len(buying.acknowledged)} purchases acknowledged, none lost")
    return 0


def agree(buying: Buying | None = None) -> bool:
    lost = [] if buying is None else buying.lost()
    found = [*differences(), *(f"order {order} was acknowledged and is lost" for order in lost)]
    for sentence in found:
        console.print(sentence)
    return not found

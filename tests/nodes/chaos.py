"""Readers and writers while Redis is killed, slowed down and brought back with old contents, and PostgreSQL is killed and started again.

    uv run --group dev python -m tests.nodes.chaos [--seconds 20] [--rounds 3]

Two nodes run with the production settings, nginx with the shipped configuration before them. Writers raise prices through the API,
one number after the other, so that every answer tells how old it is. No answer of a node may be older than the last change that was
answered before it was asked for, none through nginx older than the seconds that shared caches are allowed, and while the database is
there every change is made and no answer is a 5xx.
"""

import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import redis
import requests

from tests import command_line

from ..servers.process import MANY_CALLS
from ..waiting import until
from .balancer import BASE_URL
from .deployment import Deployment, deployed
from .edge import Edge, at_the_edge
from .probes import scene

API = f"{BASE_URL}/api/v1"
CALM, KILLED, SLOW, OLD, DATABASE, AFTER = PHASES = (
    "all is well",
    "Redis is killed",
    "Redis is slow by 2 s",
    "Redis is back with old contents",
    "PostgreSQL is killed and comes back",
    "all is well again",
)
WRITERS = 2
PATIENCE_SECONDS = 60
# Returns the prices that an answer shows, by listing.
Look = Callable[[requests.Session], dict[str, int]]


@dataclass
class Report:
    """What was seen, by phase."""

    reads: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    # Of reads and changes that did not succeed: what came instead.
    failed: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    stale: list[str] = field(default_factory=list)
    # How long after a change was answered a request through nginx began that did not see it.
    edge_age: float = 0.0
    edge_limit: float = 0.0
    slowest: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def faults(self) -> list[str]:
        """Return what should not have been."""
        found = list(self.stale)
        found += [
            f"{phase}: {count} times {what}" for phase, whats in self.failed.items() for what, count in whats.items() if phase != DATABASE
        ]
        if self.edge_age > self.edge_limit:
            found.append(f"an answer through nginx was {self.edge_age:.1f} s old")
        return found

    def __str__(self) -> str:
        lines = ["| phase | reads | changes | failed | slowest answer |", "|---|--:|--:|---|--:|"]
        for phase in PHASES:
            failed = ", ".join(f"{count} times {what}" for what, count in sorted(self.failed[phase].items())) or "none"
            lines.append(f"| {phase} | {self.reads[phase]} | {self.changes[phase]} | {failed} | {self.slowest[phase]:.1f} s |")
        lines.append(f"\nThe oldest answer through nginx was {self.edge_age:.1f} s old, of {self.edge_limit:.0f} allowed.")
        return "\n".join([*lines, *(f"FAULT: {fault}" for fault in self.faults())])


@dataclass
class Price:
    """A listing's price, which a writer raises. Numbers of which it is not known whether they were committed are never acknowledged."""

    listing: str
    begun: int = 1_000
    # Each number whose change was answered, and when.
    acknowledged: list[tuple[int, float]] = field(default_factory=lambda: [(0, 0.0)])

    def superseded_at(self, number: int) -> float | None:
        """Return when a later number was acknowledged first; None while none was."""
        return next((at for later, at in self.acknowledged if later > number), None)


class Run:
    """Threads that read and write until they are told that it is over."""

    def __init__(self, deployment: Deployment, edge: Edge, facts: dict[str, Any], pause: float) -> None:
        self.deployment, self.edge, self.vendor, self._pause = deployment, edge, facts["vendor"], pause
        self.report = Report(edge_limit=float(deployment.env["SHARED_CACHE_SECONDS"]))
        # The newest are on the first page.
        self.prices = [Price(listing) for listing in facts["for_sale"][-WRITERS:]]
        self._phase = CALM
        self._over = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Read and write inside the block."""
        works: list[Callable[[requests.Session], None]] = [partial(self._raise, price) for price in self.prices]
        sessions = [self.deployment.session() for _ in works]
        for look in (self._detail, self._page):
            for node in range(len(self.deployment.addresses)):
                works.append(partial(self._look_at_node, look))
                sessions.append(self.deployment.session_at(node))
            works.append(partial(self._look_at_edge, look))
            sessions.append(self.edge.session())
        threads = [threading.Thread(target=self._repeat, args=pair) for pair in zip(works, sessions, strict=True)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Name the phase inside the block; requests that are under way when it begins or ends belong to it as well."""
        self._phase = name
        yield
        if name == DATABASE:
            until(self._well, "answers after the database came back", seconds=PATIENCE_SECONDS)

    def _well(self) -> bool:
        path = f"/assets/{self.prices[0].listing}"
        sessions = [self.deployment.session_at(node) for node in range(len(self.deployment.addresses))]
        try:
            return all(session.get(API + path, timeout=PATIENCE_SECONDS).status_code == 200 for session in [*sessions, self.edge.session()])
        except requests.RequestException:
            return False

    def _repeat(self, work: Callable[[requests.Session], None], session: requests.Session) -> None:
        while not self._over.is_set():
            work(session)
            time.sleep(self._pause)

    def _ask(self, session: requests.Session, method: str, path: str, **parts: Any) -> tuple[requests.Response | None, str]:
        """Return the answer, None when it is no success, and the phase that it belongs to."""
        phase, began = self._phase, time.monotonic()
        try:
            answer = session.request(method, API + path, timeout=PATIENCE_SECONDS, **parts)
            what = f"{method} {answer.status_code}"
        except requests.RequestException as error:
            answer, what = None, f"{method} {type(error).__name__}"
        phase = DATABASE if DATABASE in (phase, self._phase) else phase
        with self._lock:
            self.report.slowest[phase] = max(self.report.slowest[phase], time.monotonic() - began)
            if answer is None or answer.status_code != 200:
                self.report.failed[phase][what] += 1
                return None, phase
        return answer, phase

    def _raise(self, price: Price, session: requests.Session) -> None:
        price.begun += 1
        number = price.begun
        path = f"/vendor/assets/{price.listing}/regional-prices"
        answer, phase = self._ask(session, "PATCH", path, json={"priceInr": number}, headers=self.vendor)
        if answer is not None:
            price.acknowledged.append((number, time.monotonic()))
            self.report.changes[phase] += 1

    def _look_at_node(self, look: Look, session: requests.Session) -> None:
        before = [price.acknowledged[-1][0] for price in self.prices]
        shown = look(session)
        for price, least in zip(self.prices, before, strict=True):
            number = shown.get(price.listing)
            if number is not None and least and not least <= number <= price.begun:
                self.report.stale.append(f"{self._phase}: a node said {number} after {least} and before {price.begun}")

    def _look_at_edge(self, look: Look, session: requests.Session) -> None:
        began = time.monotonic()
        for listing, number in look(session).items():
            price = next(price for price in self.prices if price.listing == listing)
            superseded = price.superseded_at(number)
            if superseded is not None and number >= price.acknowledged[1][0]:
                self.report.edge_age = max(self.report.edge_age, began - superseded)

    def _detail(self, session: requests.Session) -> dict[str, int]:
        price = self.prices[time.monotonic_ns() % WRITERS]
        answer, phase = self._ask(session, "GET", f"/assets/{price.listing}")
        self.report.reads[phase] += answer is not None
        return {} if answer is None else {price.listing: int(answer.json()["priceINR"])}

    def _page(self, session: requests.Session) -> dict[str, int]:
        answer, phase = self._ask(session, "GET", "/assets?sort=newest&limit=20")
        self.report.reads[phase] += answer is not None
        listings = {price.listing for price in self.prices}
        return {} if answer is None else {item["id"]: int(item["priceINR"]) for item in answer.json()["items"] if item["id"] in listings}


def run(deployment: Deployment, edge: Edge, facts: dict[str, Any], *, seconds: float, rounds: int = 1, pause: float = 0.05) -> Report:
    """Go through the phases and return what was seen."""
    going = Run(deployment, edge, facts, pause)
    cache, gate, database = deployment.cache, deployment.gates["cache"], deployment.database
    with going.going_on():
        for _ in range(rounds):
            with going.phase(CALM):
                time.sleep(seconds)
            with going.phase(KILLED):
                cache.kill()
                time.sleep(seconds)
                cache.start()
            with going.phase(SLOW):
                # Each way.
                gate.slow(1)
                time.sleep(seconds)
                gate.slow(0)
            with going.phase(OLD):
                redis.Redis.from_url(cache.address).save()
                time.sleep(seconds)
                cache.kill()
                cache.start()
                time.sleep(seconds)
            with going.phase(DATABASE):
                database.kill()
                time.sleep(seconds / 2)
                database.start()
            with going.phase(AFTER):
                time.sleep(seconds)
    return going.report


def main() -> int:
    parser = command_line("tests.nodes.chaos", __doc__)
    parser.add_argument("--seconds", type=float, default=20, help="of each phase (20)")
    parser.add_argument("--rounds", type=int, default=3, help="how often to go through the phases (3)")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="marketplace-chaos-") as folder,
        deployed(Path(folder), gated=True, given=MANY_CALLS | {"SHARED_CACHE_SECONDS": "5"}) as deployment,
        at_the_edge(deployment) as edge,
    ):
        report = run(deployment, edge, scene(deployment), seconds=options.seconds, rounds=options.rounds)
    sys.stdout.write(f"{report}\n")
    return bool(report.faults())


if __name__ == "__main__":
    sys.exit(main())

"""Locust users: visitors, programs with a key, a vendor. Run by `python -m benchmarks.load`, against loopback only."""

import itertools
import json
import os
import random
import sys
import time
import uuid
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import gevent
from locust import FastHttpUser, events, task

FACTS: dict[str, Any] = json.loads(os.environ["LOAD_FACTS"])
NODES: list[str] = FACTS["nodes"]
HOST = "shop.test"
API = "/api/v1"
WORDS = ("font", "motion", "grotesk", "serif", "neon", "texture", "lut", "loop", "icon", "skill")
SORTS = ("popular", "newest", "price_asc", "price_desc")
# Seconds between two calls of a user; 0: the next call follows the response immediately.
PACE = float(os.environ["LOAD_PACE"])
# Expected refusals, which are not failures: the asset is owned already, or has no price in the wallet's currency.
EXPECTED = {200, 302, 304, 409}
TOO_MUCH = {429, 503}
_turn = itertools.count()

if any(urlsplit(node).hostname != "127.0.0.1" for node in NODES):
    sys.exit("This load test only runs against loopback addresses.")


@events.request.add_listener
def _note(name: str, response_time: float, response: Any = None, exception: Any = None, **_: Any) -> None:
    status = getattr(response, "status_code", 0)
    STATUSES[status] += 1
    TIMES["refused" if status in TOO_MUCH else "answered"].append(response_time)
    if exception is not None:
        FAILURES[f"{name}: {status} {str(getattr(response, 'text', None) or exception)[:200]}"] += 1


@events.quitting.add_listener
def _tell(**_: Any) -> None:
    times = {word: sorted(found) for word, found in TIMES.items()}
    told = {"statuses": {str(status): count for status, count in STATUSES.items()}, "failures": FAILURES.most_common(10)}
    spans = {word: [found[int(len(found) * 0.95)], found[-1]] if found else [0, 0] for word, found in times.items()}
    print("TOLD", json.dumps(told | {"within": spans}), flush=True)


STATUSES: Counter[int] = Counter()
FAILURES: Counter[str] = Counter()
TIMES: dict[str, list[float]] = {"answered": [], "refused": []}


class Caller(FastHttpUser):
    """A user of one of the nodes, assigned in turn as by a load balancer."""

    abstract = True
    host = NODES[0]
    # Timeout in seconds; a node that takes longer counts as failed.
    network_timeout = connection_timeout = 30.0

    def on_start(self) -> None:
        """Choose the next node and a client address of its own."""
        number = next(_turn)
        self.client.base_url = NODES[number % len(NODES)]
        self.dice = random.Random(number)
        self.headers = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": f"203.0.{number // 250 % 250}.{number % 250 + 1}"}

        self.due = time.monotonic()
        # Spread the users' starts.
        gevent.sleep(self.wait_time())

    def wait_time(self) -> float:
        """Return the seconds until the next call, at random times whose average rate does not depend on the response times."""
        now = time.monotonic()
        self.due = max(now, self.due + self.dice.uniform(0, 2 * PACE))
        return self.due - now

    def ask(self, method: str, path: str, name: str, **parts: Any) -> Any:
        """Send a request. Expected statuses are successes; refusals because of overload are recorded separately."""
        headers = self.headers | parts.pop("headers", {})
        with self.client.request(
            method, API + path, name=name, headers=headers, catch_response=True, allow_redirects=False, **parts
        ) as answer:
            if answer.status_code in TOO_MUCH and answer.headers.get("Retry-After"):
                answer.request_meta["name"] = f"refused ({method})"
                answer.success()
            elif answer.status_code in EXPECTED:
                answer.success()
            else:
                answer.failure(f"{answer.status_code}")
            return answer

    def an_asset(self) -> str:
        """Return a listing that is for sale; a few of them are requested often."""
        assets: list[str] = FACTS["assets"]
        return assets[min(int(self.dice.paretovariate(0.8)) - 1, len(assets) - 1)]


class Visitor(Caller):
    """Browses, opens assets, searches, and gets suggestions."""

    weight = 6

    @task(4)
    def browse(self) -> None:
        """Request a page of the catalog."""
        sort, page = self.dice.choice(SORTS), int(self.dice.paretovariate(1.2))
        self.ask("GET", f"/assets?sort={sort}&page={page}", "browse")

    @task(4)
    def detail(self) -> None:
        """Request an asset."""
        self.ask("GET", f"/assets/{self.an_asset()}", "detail")

    @task(2)
    def search(self) -> None:
        """Search."""
        self.ask("GET", f"/assets/search?q={self.dice.choice(WORDS)}%20{self.dice.choice(WORDS)[:3]}", "search")

    @task(2)
    def suggest(self) -> None:
        """Request suggestions."""
        self.ask("GET", f"/assets/suggest?q={self.dice.choice(WORDS)[: self.dice.randint(1, 5)]}", "suggest")


class Program(Caller):
    """Requests manifests, buys, downloads."""

    weight = 3

    def on_start(self) -> None:
        """Choose an API key."""
        super().on_start()
        self.buyer = self.dice.choice(FACTS["buyers"])
        self.headers["X-Api-Key"] = self.buyer["key"]

    @task(3)
    def manifest(self) -> None:
        """Request a manifest."""
        self.ask("GET", f"/assets/{self.an_asset()}/manifest", "manifest")

    @task(2)
    def library(self) -> None:
        """List the library."""
        self.ask("GET", "/library", "library")

    @task(2)
    def download(self) -> None:
        """Get a download link and follow it within the service."""
        link = self.ask("POST", f"/library/download/{FACTS['owned']}", "download link")
        if link.status_code == 200:
            path = urlsplit(link.json()["downloadUrl"]).path.removeprefix(API)
            self.ask("GET", path, "download")

    @task(2)
    def spend(self) -> None:
        """Buy an asset; sometimes repeat the call with the same key, as after a lost response."""
        body = {"assetId": self.dice.choice(FACTS["assets"])}
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        first = self.ask("POST", "/wallet/spend", "spend", json=body, headers=headers)
        if first.status_code == 200 and self.dice.random() < 0.2:
            again = self.ask("POST", "/wallet/spend", "spend again", json=body, headers=headers)
            if again.status_code == 200 and again.json()["orderId"] != first.json()["orderId"]:
                events.request.fire(
                    request_type="POST", name="spend again", response_time=0, response_length=0, exception=ValueError("paid twice")
                )


class Vendor(Caller):
    """Looks at listings and edits them."""

    weight = 1

    def on_start(self) -> None:
        """Set the vendor's credential."""
        super().on_start()
        self.headers |= FACTS["vendor"]

    @task(2)
    def listings(self) -> None:
        """Request the first page of the listings."""
        self.ask("GET", "/vendor/assets", "own listings")

    @task(1)
    def edit(self) -> None:
        """Change the price of a listing."""
        path = f"/vendor/assets/{self.dice.choice(FACTS['own'])}/regional-prices"
        self.ask("PATCH", path, "edit", json={"priceInr": self.dice.randint(100, 5000)})

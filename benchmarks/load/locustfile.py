"""The callers: visitors, programs with a key, a vendor. Run by `python -m benchmarks.load`, against loopback only."""

import itertools
import json
import os
import random
import sys
import uuid
from typing import Any
from urllib.parse import urlsplit

from locust import HttpUser, constant_throughput, events, task

FACTS: dict[str, Any] = json.loads(os.environ["LOAD_FACTS"])
NODES: list[str] = FACTS["nodes"]
HOST = "shop.test"
API = "/api/v1"
WORDS = ("font", "motion", "grotesk", "serif", "neon", "texture", "lut", "loop", "icon", "skill")
SORTS = ("popular", "newest", "price_asc", "price_desc")
# What refuses a call without anything being wrong: owned already, too many calls, too busy.
REFUSALS = {409, 429, 503}
_turn = itertools.count()

if any(urlsplit(node).hostname != "127.0.0.1" for node in NODES):
    sys.exit("The load is for machines of our own.")


@events.request.add_listener
def _count_statuses(response: Any = None, **_: Any) -> None:
    STATUSES[getattr(response, "status_code", 0)] = STATUSES.get(getattr(response, "status_code", 0), 0) + 1


@events.quitting.add_listener
def _tell(**_: Any) -> None:
    print("STATUSES", json.dumps({str(status): count for status, count in STATUSES.items()}), flush=True)


STATUSES: dict[int, int] = {}


class Caller(HttpUser):
    """Someone at one of the nodes, as a balancer would choose it; one call a second."""

    abstract = True
    wait_time = constant_throughput(1)
    host = NODES[0]

    def on_start(self) -> None:
        """Take the next node, and an address of one's own."""
        number = next(_turn)
        self.client.base_url = NODES[number % len(NODES)]
        self.dice = random.Random(number)
        self.client.headers.update(
            {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": f"203.0.{number // 250 % 250}.{number % 250 + 1}"}
        )

    def ask(self, method: str, path: str, name: str, **parts: Any) -> Any:
        """Call; a refusal that may be is a success of the service."""
        with self.client.request(method, API + path, name=name, catch_response=True, allow_redirects=False, **parts) as answer:
            if answer.status_code in REFUSALS or answer.status_code in {302, 304}:
                answer.success()
            return answer

    def an_asset(self) -> str:
        """Return one that is for sale; few are asked for often."""
        assets: list[str] = FACTS["assets"]
        return assets[min(int(self.dice.paretovariate(0.8)) - 1, len(assets) - 1)]


class Visitor(Caller):
    """Browses, reads, searches, types."""

    weight = 6

    @task(4)
    def browse(self) -> None:
        """Turn pages."""
        sort, page = self.dice.choice(SORTS), int(self.dice.paretovariate(1.2))
        self.ask("GET", f"/assets?sort={sort}&page={page}", "browse")

    @task(4)
    def detail(self) -> None:
        """Read about an asset."""
        self.ask("GET", f"/assets/{self.an_asset()}", "detail")

    @task(2)
    def search(self) -> None:
        """Search."""
        self.ask("GET", f"/assets/search?q={self.dice.choice(WORDS)}%20{self.dice.choice(WORDS)[:3]}", "search")

    @task(2)
    def suggest(self) -> None:
        """Type."""
        self.ask("GET", f"/assets/suggest?q={self.dice.choice(WORDS)[: self.dice.randint(1, 5)]}", "suggest")


class Program(Caller):
    """Reads manifests, buys, downloads."""

    weight = 3

    def on_start(self) -> None:
        """Take a key."""
        super().on_start()
        self.buyer = self.dice.choice(FACTS["buyers"])
        self.client.headers["X-Api-Key"] = self.buyer["key"]

    @task(3)
    def manifest(self) -> None:
        """Read a manifest."""
        self.ask("GET", f"/assets/{self.an_asset()}/manifest", "manifest")

    @task(2)
    def library(self) -> None:
        """Read what is owned."""
        self.ask("GET", "/library", "library")

    @task(2)
    def download(self) -> None:
        """Get a link and follow it as far as the service goes."""
        link = self.ask("POST", f"/library/download/{FACTS['owned']}", "download link")
        if link.status_code == 200:
            path = urlsplit(link.json()["downloadUrl"]).path.removeprefix(API)
            self.ask("GET", path, "download")

    @task(2)
    def spend(self) -> None:
        """Buy; now and then the same call again, as after a broken connection."""
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
        """Take the token."""
        super().on_start()
        self.client.headers.update(FACTS["vendor"])

    @task(2)
    def listings(self) -> None:
        """Look at the first page."""
        self.ask("GET", "/vendor/assets", "own listings")

    @task(1)
    def edit(self) -> None:
        """Set another price."""
        path = f"/vendor/assets/{self.dice.choice(FACTS['own'])}/regional-prices"
        self.ask("PATCH", path, "edit", json={"priceInr": self.dice.randint(100, 5000)})

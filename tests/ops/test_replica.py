"""Reads from a real streaming replica: never older than the primary, whatever it does."""

import contextlib
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from ..faults.service import Service, service
from ..servers.migrated import fill_postgres
from ..servers.postgres import Cluster, Unavailable
from ..servers.redis import redis
from ..waiting import until

pytestmark = [pytest.mark.engineless]
TOKEN = "metrics-token-of-the-tests"
# Changes a title as services do: in one transaction with the generation.
RETITLE = """
from django.db import transaction
from catalog.models import Listing
from catalog.services import generation
with transaction.atomic():
    generation.bump()
    Listing.objects.filter(slug={slug!r}).update(title={title!r})
"""
# The longest that a request may take while the replica is gone; those that wait for nothing take none of it.
PATIENT_SECONDS = 120


class Pair:
    """A primary, its replica, and a service over both."""

    def __init__(self, primary: Cluster, replica: Cluster, shop: Service) -> None:
        self.primary, self.replica, self.shop = primary, replica, shop
        self._looks, self._pages = 0, itertools.count()
        page = requests.get(f"{shop.base_url}/api/v1/assets?limit=3", timeout=PATIENT_SECONDS).json()
        details = [requests.get(f"{shop.base_url}/api/v1/assets/{item['id']}", timeout=PATIENT_SECONDS).json() for item in page["items"]]
        self.slugs = [detail["slug"] for detail in details]

    def title(self, slug: str) -> str:
        """Return what the catalog shows."""
        answer = requests.get(f"{self.shop.base_url}/api/v1/assets/{slug}", timeout=PATIENT_SECONDS)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["title"])

    def retitle(self, slug: str, title: str) -> None:
        """Change it, from a process of its own."""
        done = self.shop.manage("shell", "--verbosity", "0", "--no-imports", "-c", RETITLE.format(slug=slug, title=title))
        assert done.returncode == 0, done.stderr

    def ready(self) -> Any:
        """Return the answer of /readyz."""
        return requests.get(f"{self.shop.base_url}/readyz", timeout=PATIENT_SECONDS)

    def replica_reads(self) -> float:
        """Return how many statements the replica was sent, but for the one about its lag that each look at the metrics costs."""
        text = requests.get(f"{self.shop.base_url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENT_SECONDS).text
        # Counters are collected before the lag is asked for: this look shows in the next.
        looks, self._looks = self._looks, self._looks + 1
        return -looks + sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == "marketplace_query_seconds_count" and sample.labels["database"] == "replica"
        )

    def build_page(self) -> None:
        """Ask for an address that was never asked for."""
        page, limit = divmod(next(self._pages), 50)
        answer = requests.get(f"{self.shop.base_url}/api/v1/assets?limit={limit + 1}&page={page + 1}&sort=newest", timeout=PATIENT_SECONDS)
        assert answer.status_code == 200, answer.text


def caught_up(pair: Pair) -> None:
    """Wait until the replica has all that was written."""
    until(lambda: pair.ready().json()["components"]["replica"].get("lagBytes") == 0, "a replica without a lag", log=pair.shop.log)


def used(pair: Pair) -> bool:
    """Tell whether the replica builds a page; now and then the primary writes of its own accord, and it lags for a moment."""
    before = pair.replica_reads()
    pair.build_page()
    return pair.replica_reads() > before + 1


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("replica")
    with contextlib.ExitStack() as stack:
        try:
            primary = Cluster("full_page_writes=on")
            stack.callback(primary.remove)
            primary.start()
            cache = stack.enter_context(redis())
        except Unavailable as reason:
            pytest.skip(str(reason))
        replica = Cluster("hot_standby_feedback=on", of=primary)
        stack.callback(replica.remove)
        replica.start()
        given = {
            "DATABASE_URL": primary.address,
            "DATABASE_REPLICA_URL": replica.address,
            "REDIS_URL": f"{cache}/0",
            "METRICS_TOKEN": TOKEN,
        }
        shop = stack.enter_context(service(folder, given))
        fill_postgres(primary.address)
        done = shop.manage("seed_catalog", "--listings", "30")
        assert done.returncode == 0, done.stdout + done.stderr
        shop.start()
        yield Pair(primary, replica, shop)


@contextlib.contextmanager
def paused(pair: Pair) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(pair.replica.address, autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        until(lambda: connection.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() == ("paused",), "a replica that pauses")
        try:
            yield connection
        finally:
            connection.execute("SELECT pg_wal_replay_resume()")


def test_replica_that_has_caught_up_builds_answers(pair: Pair) -> None:
    until(lambda: used(pair), "a page that the replica builds")
    well = {"status": "ok", "lagBytes": 0, "lagSeconds": 0.0}
    until(lambda: pair.ready().json()["components"]["replica"] == well, "a replica without a lag")


def test_replica_that_lags_never_answers_and_never_fills_the_cache(pair: Pair) -> None:
    slug, other, _ = pair.slugs
    before = pair.title(slug), pair.title(other)
    with paused(pair) as replica:
        for title in ("Written while paused", "Written again"):
            pair.retitle(slug, title)
            # At once, for everybody, also on the second look, which the cache answers.
            assert [pair.title(slug), pair.title(slug)] == [title, title]
        found = replica.execute("SELECT title FROM catalog_listing WHERE slug = %s", [slug]).fetchone()
        assert found == (before[0],), "the replica was not behind: the test shows nothing"
        lag = pair.ready().json()["components"]["replica"]
        assert lag["lagBytes"] > 0
        # What did not change is built by the primary as well: nobody can tell that it did not.
        reads = pair.replica_reads()
        assert pair.title(other) == before[1]
        pair.build_page()
        assert pair.replica_reads() - reads <= 2
    caught_up(pair)
    assert pair.title(slug) == "Written again"
    until(lambda: used(pair), "a page that the replica builds")


def test_replica_that_dies_is_done_without_and_used_again_when_it_is_back(pair: Pair) -> None:
    slug = pair.slugs[2]
    pair.replica.kill()
    try:
        began = time.monotonic()
        for _ in range(3):
            pair.build_page()
            assert pair.title(slug)
        pair.retitle(slug, "Without a replica")
        assert pair.title(slug) == "Without a replica"
        assert time.monotonic() - began < PATIENT_SECONDS
        until(lambda: pair.ready().json()["status"] == "degraded", "a service that says what it lacks")
        answer = pair.ready()
        assert (answer.status_code, answer.json()["down"]) == (200, ["replica"])
    finally:
        pair.replica.start()
    until(lambda: used(pair), "a page that the replica builds")
    assert pair.title(slug) == "Without a replica"
    until(lambda: pair.ready().json()["status"] == "ok", "a service that is well")


def test_server_that_follows_nobody_is_read_no_more(pair: Pair) -> None:
    """As after a failover, when the address still leads to the primary of before. The last of the module: it follows never again."""
    slug, other, _ = pair.slugs
    caught_up(pair)
    known = pair.title(slug)
    with psycopg.connect(pair.replica.address, autocommit=True) as connection:
        connection.execute("SELECT pg_promote(wait => true)")
        connection.execute("UPDATE catalog_cataloggeneration SET value = value + 100 WHERE shard = 0")
        connection.execute("UPDATE catalog_listing SET title = 'Of another history' WHERE slug = %s", [slug])
    # A change, so that what is shown is built now.
    pair.retitle(other, "Of this history")
    assert pair.title(slug) == known
    until(lambda: pair.ready().json()["components"]["replica"]["status"] == "down", "a service that says so")

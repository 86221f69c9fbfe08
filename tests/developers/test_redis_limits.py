"""Rate limits on a real Redis: exact over several processes, a counter that ends, a store that dies in mid-run."""

import json
import os
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from rest_framework.test import APIClient

from developers.models import ApiKey
from developers.services.credentials import issue_api_key
from marketplace.http.rate_limits import WINDOW_SECONDS
from marketplace.settings.environment import redis_caches
from tests.factories import AppFactory
from tests.servers.redis import redis
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.django_db(transaction=True)
PROCESSES, CALLS = 4, 20


@pytest.fixture
def secret() -> str:
    """The secret of a key that was used before, so that its calls write nothing."""
    app = AppFactory()
    key, secret = issue_api_key(app=app, name="load", actor=app.user)
    APIClient(headers={"x-api-key": secret}).get("/api/v1/wallet")
    assert ApiKey.objects.get(pk=key.pk).last_used_at is not None
    cache.clear()
    return secret


def in_processes(count: int, work: Callable[[], list[int]]) -> list[int]:
    """Run the work in processes of their own that start together; return what all of them found."""
    connections.close_all()
    start_read, start_write = os.pipe()
    children = [_fork(work, start_read, start_write) for _ in range(count)]
    os.close(start_read)
    # All of them wait for the end of this pipe.
    os.close(start_write)
    found: list[int] = []
    for pid, answers in children:
        with os.fdopen(answers) as file:
            found += json.loads(file.read() or "[]")
        os.waitpid(pid, 0)
    return found


def _fork(work: Callable[[], list[int]], start_read: int, start_write: int) -> tuple[int, int]:
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    try:
        os.close(start_write)
        os.read(start_read, 1)
        os.write(write, json.dumps(work()).encode())
        os.close(write)
    finally:
        # Nothing of the test run may go on twice.
        os._exit(0)


@pytest.mark.slow
def test_several_processes_get_sixty_calls_between_them(redis_cache: str, secret: str) -> None:
    def calls() -> list[int]:
        client = APIClient(headers={"x-api-key": secret})
        return [client.get("/api/v1/wallet").status_code for _ in range(CALLS)]

    assert Counter(in_processes(PROCESSES, calls)) == {200: 60, 429: PROCESSES * CALLS - 60}


def test_each_call_counts_once_against_the_rate_limit_whether_cached_or_not(redis_cache: str) -> None:
    client = APIClient()

    def left(path: str) -> int:
        return int(client.get(path)["RateLimit"].partition("r=")[2].partition(";")[0])

    paths = ["/api/v1/categories", "/api/v1/categories", "/api/v1/assets", "/api/v1/assets/unknown", "/api/v1/assets?page=none"]
    first, *others = [left(path) for path in paths]
    assert [first - number for number in others] == [1, 2, 3, 4]


def test_counter_is_forgotten_after_its_window(secret: str, redis_cache: str) -> None:
    APIClient(headers={"x-api-key": secret}).get("/api/v1/wallet")
    (counter,) = cache.keys("rl:*")  # type: ignore[attr-defined]  # django-redis has it
    assert (cache.get(counter), 0 < cache.ttl(counter) <= WINDOW_SECONDS + 5) == (1, True)  # type: ignore[attr-defined]  # as above


def until_told(running: threading.Event, found: list[int], call: Callable[[], Any]) -> None:
    """Call again and again, and three times more when told that it is enough."""
    while running.is_set():
        found.append(call().status_code)
    found += [call().status_code for _ in range(3)]
    connections.close_all()


def test_rate_limit_store_that_fails_during_calls_stops_only_spending(secret: str, settings: Any) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 1_000_000)
    client = APIClient(headers={"x-api-key": secret}, raise_request_exception=False)
    found: dict[str, list[int]] = {"read": [], "spend": []}
    running = threading.Event()
    running.set()
    calls: dict[str, Callable[[], Any]] = {
        "read": lambda: client.get("/api/v1/wallet"),
        "spend": lambda: client.post("/api/v1/wallet/spend", {"assetId": "none"}, format="json"),
    }
    threads = [threading.Thread(target=until_told, args=(running, found[name], call)) for name, call in calls.items()]
    memory = settings.CACHES
    try:
        with redis() as address:
            settings.CACHES = redis_caches(f"{address}/0")
            for thread in threads:
                thread.start()
            until(lambda: min(map(len, found.values())) >= 10, "ten answers of each kind")
    finally:
        running.clear()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    settings.CACHES = memory
    assert (set(found["read"]), found["read"][-3:]) == ({200}, [200] * 3)
    assert (set(found["spend"]), found["spend"][-3:]) == ({404, 503}, [503] * 3)

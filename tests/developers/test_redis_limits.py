"""Rate limits on a real Redis: exact over several processes, and a counter that ends."""

import json
import os
from collections import Counter
from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.db import connections
from rest_framework.test import APIClient

from developers.models import ApiKey
from developers.services.credentials import issue_api_key
from marketplace.http.rate_limits import WINDOW_SECONDS
from tests.factories import AppFactory

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

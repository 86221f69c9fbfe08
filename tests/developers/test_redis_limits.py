"""Rate limits on a real Redis: exact over several processes, and a counter that ends."""

import multiprocessing
from collections import Counter
from itertools import chain

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


def statuses(secret: str) -> list[int]:
    """Call with a key, in a process of its own."""
    client = APIClient(headers={"x-api-key": secret})
    return [client.get("/api/v1/wallet").status_code for _ in range(CALLS)]


@pytest.mark.slow
def test_several_processes_get_sixty_calls_between_them(redis_cache: str, secret: str) -> None:
    connections.close_all()
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        found = pool.map(statuses, [secret] * PROCESSES, chunksize=1)
    assert Counter(chain(*found)) == {200: 60, 429: PROCESSES * CALLS - 60}


def test_counter_is_forgotten_after_its_window(secret: str, redis_cache: str) -> None:
    APIClient(headers={"x-api-key": secret}).get("/api/v1/wallet")
    (counter,) = cache.keys("rl:*")  # type: ignore[attr-defined]  # django-redis has it
    assert (cache.get(counter), 0 < cache.ttl(counter) <= WINDOW_SECONDS + 5) == (1, True)  # type: ignore[attr-defined]  # as above

"""Cached public answers: what they cost, and that none is served after a change."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from django.core.cache import cache, caches
from django.db import connection, connections, transaction
from django.test import Client
from rest_framework.test import APIClient

from catalog.models import CatalogGeneration, Listing
from catalog.services import boards, fence, generation
from catalog.services.boards import SharedCache
from catalog.services.review import takedown_listing, unpublish_listing
from catalog.services.visibility import listing_changed, store_changed
from marketplace.core.errors import DependencyUnavailable
from tests.factories import PublishedListingFactory, UserFactory
from tests.servers.ports import free_port
from tests.servers.redis import redis_in

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="only there processes share a cache")


@pytest.fixture(params=["memory", pytest.param("redis", marks=on_postgresql)])
def store(request: pytest.FixtureRequest) -> str:
    """The cache of answers: this process's own, and one that all processes share."""
    if request.param == "redis":
        request.getfixturevalue("redis_cache")
    return str(request.param)


@pytest.fixture
def shared(redis_cache: str) -> None:
    """A cache that all processes share."""


@pytest.fixture
def listing() -> Listing:
    """A listing for sale."""
    made: Listing = PublishedListingFactory(title="Grotesk", price_inr_minor=10_000)
    return made


@pytest.fixture
def elsewhere() -> Callable[[Callable[[], object]], None]:
    """Do something on another connection, as another process would, and wait for it."""

    def run(work: Callable[[], object]) -> None:
        def there() -> None:
            work()
            connections.close_all()

        thread = threading.Thread(target=there)
        thread.start()
        thread.join()

    return run


def titles(client: Client) -> list[str]:
    return [item["title"] for item in client.get("/api/v1/assets").json()["items"]]


@pytest.mark.parametrize(
    ("path", "queries"), [("assets", 2), ("assets/{id}", 3), ("categories", 1), ("assets/search?q=grotesk", 5), ("assets/suggest?q=gro", 4)]
)
def test_queries_of_an_answer_that_is_not_cached_and_of_one_that_is(
    store: str, listing: Listing, path: str, queries: int, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    path = f"/api/v1/{path.format(id=listing.id)}"
    client = APIClient()
    client.get("/api/v1/assets/unknown")
    with django_assert_max_num_queries(queries):
        first = client.get(path)
    assert first.status_code == 200
    with django_assert_num_queries(0):
        again = client.get(path)
    assert (again.content, again["ETag"]) == (first.content, first["ETag"])
    with django_assert_num_queries(0):
        assert client.get(path, HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304


def test_manifest_costs_no_query_beyond_the_credentials(
    store: str, listing: Listing, key_client: Any, django_assert_num_queries: Any
) -> None:
    client, path = key_client(), f"/api/v1/assets/{listing.id}/manifest"
    # The first notes the use of the key and makes the manifest.
    client.get(path)
    first = client.get(path)
    assert first["Cache-Control"] == "private, no-cache"
    with django_assert_num_queries(1):
        assert client.get(path).content == first.content
    with django_assert_num_queries(1):
        assert client.get(path, HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304


def test_cached_answer_has_the_headers_of_one_that_is_built(store: str, listing: Listing) -> None:
    client = APIClient()
    built, cached = client.get("/api/v1/assets"), client.get("/api/v1/assets")
    # DRF names the methods of the address; nobody asked.
    changing = {"X-Request-Id", "RateLimit", "Allow"}
    assert {name: value for name, value in cached.items() if name not in changing} == {
        name: value for name, value in built.items() if name not in changing
    }
    assert {"X-Request-Id", "RateLimit", "RateLimit-Policy"} <= set(dict(cached.items()))


def test_cached_answer_counts_against_the_rate_limit(store: str, listing: Listing, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"anonymous": 3}
    client = APIClient()
    answers = [client.get("/api/v1/assets") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert (answers[3].json()["code"], answers[3]["Content-Type"]) == ("rate_limited", "application/problem+json")
    assert int(answers[3]["Retry-After"]) > 0


def test_bad_credential_is_refused_though_the_answer_is_cached(store: str, listing: Listing) -> None:
    client = APIClient()
    client.get("/api/v1/assets")
    for headers in ({"x-api-key": "cam_sk_wrong"}, {"authorization": "Bearer x"}):
        assert client.get("/api/v1/assets", headers=headers).json()["code"] == "invalid_credential"


def test_host_that_is_not_ours_is_refused_though_the_answer_is_cached(listing: Listing) -> None:
    client = APIClient()
    client.get("/api/v1/assets")
    assert client.get("/api/v1/assets", HTTP_HOST="evil.example").status_code == 400


def test_address_that_is_too_long_to_keep_is_answered(listing: Listing) -> None:
    client = APIClient()
    assert [client.get("/api/v1/assets", {"cursor": [""] * 100}).json()["total"] for _ in range(2)] == [1, 1]
    assert client.get("/api/v1/assets", {"sort": "x" * 500}).status_code == 400


def test_refusals_are_not_cached(listing: Listing) -> None:
    client = APIClient()
    path = "/api/v1/assets/grotesk-two"
    assert client.get(path).status_code == 404
    Listing.objects.filter(pk=listing.pk).update(slug="grotesk-two")
    assert client.get(path).status_code == 200


def test_change_by_another_connection_shows_in_the_next_answer(store: str, listing: Listing, elsewhere: Any) -> None:
    client = APIClient()
    assert (titles(client), titles(client)) == (["Grotesk"], ["Grotesk"])

    def rename() -> None:
        with transaction.atomic():
            Listing.objects.filter(pk=listing.pk).update(title="Antiqua")
            listing_changed(Listing.objects.get(pk=listing.pk))

    elsewhere(rename)
    assert titles(client) == ["Antiqua"]
    elsewhere(lambda: unpublish_listing(listing=listing, actor=listing.store.owner))
    assert titles(client) == []


def change_and_give_up(listing: Listing) -> None:
    with transaction.atomic():
        Listing.objects.filter(pk=listing.pk).update(title="Antiqua")
        listing_changed(Listing.objects.get(pk=listing.pk))
        # A reader inside sees it, and must not leave what it saw to others.
        assert generation.current() == CatalogGeneration.objects.get().value
        raise ZeroDivisionError


def test_change_that_is_rolled_back_never_shows(store: str, listing: Listing) -> None:
    client = APIClient()
    titles(client)
    with pytest.raises(ZeroDivisionError):
        change_and_give_up(listing)
    assert titles(client) == ["Grotesk"]
    Listing.objects.filter(pk=listing.pk).update(title="Didone")
    generation.bump()
    assert titles(client) == ["Didone"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the embedded default")
def test_change_by_a_command_in_another_process_shows_in_the_next_answer(listing: Listing) -> None:
    client = APIClient()
    assert (titles(client), titles(client)) == (["Grotesk"], ["Grotesk"])
    database = connection.settings_dict["NAME"]
    script = (
        "import sqlite3, sys; database = sqlite3.connect(sys.argv[1]); "
        "database.execute(\"UPDATE catalog_listing SET title = 'Antiqua'\"); "
        "database.execute('UPDATE catalog_cataloggeneration SET value = value + 1'); database.commit()"
    )
    subprocess.run([sys.executable, "-c", script, str(database)], check=True)
    assert titles(client) == ["Antiqua"]


def test_cache_that_is_down_costs_time_not_the_answer(listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_kwargs: object) -> Any:
        raise ConnectionError

    monkeypatch.setattr(type(generation.answers()), "get_many", broken)
    monkeypatch.setattr(type(generation.answers()), "set", broken)
    assert titles(APIClient()) == ["Grotesk"]


@on_postgresql
def test_state_is_stored_once_and_void_after_a_change(shared: None, listing: Listing, django_assert_num_queries: Any) -> None:
    before = generation.current()
    with django_assert_num_queries(0):
        assert generation.current() == before
    generation.bump()
    with django_assert_num_queries(1):
        assert generation.current() == before + 1


@on_postgresql
def test_nothing_is_stored_while_a_change_is_under_way(shared: None, listing: Listing, elsewhere: Any) -> None:
    seen: list[int] = []
    before = generation.current()
    with transaction.atomic():
        generation.bump()
        elsewhere(lambda: seen.append(generation.current()))
        assert (seen, cache.get(SharedCache.STATE)[0] == cache.get(SharedCache.FENCE)) == ([before], False)
    assert generation.current() == before + 1


@on_postgresql
def test_state_that_arrives_late_is_void(shared: None, listing: Listing, elsewhere: Any) -> None:
    before, late = generation.current(), cache.get(SharedCache.STATE)
    elsewhere(generation.bump)
    cache.set(SharedCache.STATE, late, 60)
    assert generation.current() == before + 1


@on_postgresql
def test_process_that_dies_before_or_after_its_commit_leaves_nothing_stale(shared: None, listing: Listing, elsewhere: Any) -> None:
    before = generation.current()

    def die() -> None:
        transaction.set_autocommit(False)
        generation.bump()
        connection.close()

    # Nothing runs after the commit; before it, the change is rolled back and the fence stays.
    elsewhere(die)
    assert generation.current() == before
    elsewhere(generation.bump)
    assert generation.current() == before + 1


@on_postgresql
def test_cache_that_lost_everything_during_a_change_is_right_after_it(shared: None, listing: Listing, elsewhere: Any) -> None:
    before = generation.current()
    with transaction.atomic():
        generation.bump()
        cache.clear()
        elsewhere(generation.current)
    assert generation.current() == before + 1


@on_postgresql
def test_change_is_refused_when_the_cache_cannot_be_told(shared: None, listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    before = generation.current()

    def broken(*_args: object, **_kwargs: object) -> Any:
        raise ConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(type(caches["default"]), "set", broken)
        with pytest.raises(DependencyUnavailable):
            listing_changed(listing)
    assert generation.current() == before


@on_postgresql
@pytest.mark.parametrize("what", ["listing", "store"])
def test_what_goes_off_sale_outlives_every_state_when_the_cache_cannot_be_told(
    shared: None, listing: Listing, elsewhere: Any, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    before = generation.current()
    waits: list[tuple[float, int, object]] = []

    def cut_off(_board: object) -> None:
        raise ConnectionError

    def wait(seconds: float) -> None:
        # The state has expired. Another process reaches the cache, and leaves nothing there that would be wrong after the commit.
        cache.delete(SharedCache.STATE)
        elsewhere(lambda: waits.append((seconds, generation.current(), cache.get(SharedCache.STATE))))

    monkeypatch.setattr(SharedCache, "raise_fence", cut_off)
    monkeypatch.setattr(fence, "time", SimpleNamespace(sleep=wait, monotonic=time.monotonic))
    if what == "store":
        listing.store.is_open = False
        listing.store.save()
        store_changed(listing.store)
    else:
        takedown_listing(listing=listing, reason="It holds malware.", actor=UserFactory())
    assert waits == [(boards.OUTLIVED_SECONDS, before, None)]
    assert (generation.current(), titles(APIClient())) == (before + 1, [])


@on_postgresql
def test_state_that_took_long_to_read_is_not_stored(shared: None, listing: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.delete(SharedCache.STATE)
    clock = iter([0.0, boards.POST_SECONDS + 0.1])
    monkeypatch.setattr(fence, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert (generation.current(), cache.get(SharedCache.STATE)) == (CatalogGeneration.objects.get().value, None)


@on_postgresql
def test_cache_that_comes_back_with_an_old_snapshot_says_nothing_of_now(listing: Listing, settings: Any, tmp_path: Path) -> None:
    port = free_port()
    settings.CACHES = {
        "default": {"BACKEND": "marketplace.core.redis_cache.RedisCache", "LOCATION": f"redis://127.0.0.1:{port}/0"},
    }
    with redis_in(tmp_path, port) as address, redis.Redis.from_url(address) as client:
        before = generation.current()
        assert titles(APIClient()) == ["Grotesk"]
        # As long as the restart may take.
        client.persist(cache.make_key(SharedCache.STATE))
        client.save()
        unpublish_listing(listing=listing, actor=listing.store.owner)
    with redis_in(tmp_path, port):
        fence_there, state = cache.get(SharedCache.FENCE), cache.get(SharedCache.STATE)
        assert state[:2] == (fence_there, before)
        assert (titles(APIClient()), generation.current() > before) == ([], True)


@on_postgresql
def test_state_of_a_server_that_does_not_tell_which_it_is_counts_for_nothing(
    shared: None, listing: Listing, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    before = generation.current()
    monkeypatch.setattr(type(caches["default"]), "server", "")
    for _ in range(2):
        with django_assert_num_queries(1):
            assert generation.current() == before

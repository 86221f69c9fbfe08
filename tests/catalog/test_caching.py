"""Public answers: what a cached one costs, that none is served after a change, and what other caches are told."""

import json
import threading
from collections.abc import Callable
from itertools import product
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.cache import caches
from django.db import connections, transaction
from django.test import Client
from rest_framework.test import APIClient

from catalog import browsing
from catalog.api import public
from catalog.catalog_version import change_version, current_version
from catalog.models import CatalogVersion, Listing, ListingIndex
from catalog.selectors.taxonomy import categories_with_counts
from catalog.services.submission import unpublish_listing
from catalog.services.visibility import listing_changed
from marketplace import wsgi
from marketplace.core import bounds
from marketplace.settings.embedded import MEMORY_CACHES
from marketplace.settings.environment import redis_caches
from tests.factories import PublishedListingFactory
from tests.servers.ports import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database_full]
PUBLIC = "public, max-age=0, s-maxage=5"
PATHS = [
    f"/api/v1/{path}"
    for path in ("assets?limit=5&sort=newest", "assets/grotesk", "assets/search?q=grotesk", "assets/suggest?q=gro", "categories")
]


@pytest.fixture(params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> str:
    """The cache of answers: in this process's memory, or one that all processes share."""
    if request.param == "redis":
        request.getfixturevalue("redis_cache")
    return str(request.param)


@pytest.fixture
def listing() -> Listing:
    """A listing for sale."""
    made: Listing = PublishedListingFactory(title="Grotesk", slug="grotesk", price_inr_minor=10_000)
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


def test_cached_response_takes_one_query_for_the_catalog_version(store: str, listing: Listing, django_assert_num_queries: Any) -> None:
    client = APIClient()
    for path in PATHS:
        first = client.get(path)
        assert first.status_code == 200
        with django_assert_num_queries(1):
            again = client.get(path)
        assert (again.content, again["ETag"]) == (first.content, first["ETag"])
        for method in (client.get, client.head):
            with django_assert_num_queries(1):
                assert method(path, HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304, path
    # Parameters in another order are the same.
    with django_assert_num_queries(1):
        assert client.get("/api/v1/assets?sort=newest&limit=5").status_code == 200


def test_cached_response_has_the_headers_of_one_that_is_built(listing: Listing) -> None:
    client = APIClient()
    built, cached = client.get("/api/v1/assets"), client.get("/api/v1/assets")
    # DRF names the methods of the address; nobody asked.
    changing = {"X-Request-Id", "RateLimit", "Allow"}
    assert {name: value for name, value in cached.items() if name not in changing} == {
        name: value for name, value in built.items() if name not in changing
    }
    assert {"X-Request-Id", "RateLimit", "RateLimit-Policy", "Access-Control-Allow-Origin"} <= set(dict(cached.items()))
    assert cached["X-Request-Id"] != built["X-Request-Id"]
    assert (cached["Cache-Control"], cached["Content-Type"], cached["Vary"]) == (PUBLIC, "application/json", "Accept-Encoding")


def test_cached_response_counts_against_the_rate_limit(listing: Listing, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"anonymous": 4}
    client = APIClient()
    answers = [client.get("/api/v1/assets") for _ in range(3)]
    # Answers that the views build count in the same bucket.
    answers += [client.get("/api/v1/assets/unknown"), client.get("/api/v1/assets")]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 404, 429]
    assert [answer["RateLimit"].split(";")[1] for answer in answers] == ["r=3", "r=2", "r=1", "r=0", "r=0"]
    assert (answers[4].json()["code"], answers[4]["Content-Type"], answers[4]["Cache-Control"]) == (
        "rate_limited",
        "application/problem+json",
        "no-store",
    )
    assert int(answers[4]["Retry-After"]) > 0


def test_response_to_a_credential_is_not_cached_and_is_private(listing: Listing, key_client: Any) -> None:
    APIClient().get("/api/v1/assets")
    # Nothing but a look at the cache would find it.
    ListingIndex.objects.update(title="Antiqua")
    client = key_client()
    answer = client.get("/api/v1/assets/grotesk")
    assert (answer.json()["title"], answer["Cache-Control"]) == ("Antiqua", "private, no-cache")
    assert client.get("/api/v1/assets/grotesk", HTTP_IF_NONE_MATCH=answer["ETag"]).status_code == 304
    # Nor does it leave anything there.
    ListingIndex.objects.update(title="Didone")
    assert APIClient().get("/api/v1/assets/grotesk").json()["title"] == "Didone"


def test_validators_are_compared_as_the_standard_says(listing: Listing) -> None:
    client = APIClient()
    etag = client.get("/api/v1/assets")["ETag"]
    assert etag.startswith('"')
    for method, given in product((client.get, client.head), (etag, f'W/{etag}, "x"', f'"x", {etag}', "*")):
        answer = method("/api/v1/assets", HTTP_IF_NONE_MATCH=given)
        assert (answer.status_code, answer.content, answer["ETag"], answer["Cache-Control"]) == (304, b"", etag, PUBLIC), given
    for method, (given, status) in product((client.get, client.head), ((etag, 200), ("*", 200), (f"W/{etag}", 412), ('"x"', 412))):
        # Built, and from the cache.
        for path in (f"/api/v1/assets?limit={len(given)}", "/api/v1/assets"):
            matched = etag if path.endswith("assets") else client.get(path)["ETag"]
            answer = method(path, HTTP_IF_MATCH=given.replace(etag, matched))
            assert answer.status_code == status, (given, path)
            assert status == 200 or answer["Content-Type"] == "application/problem+json"
    # A change that makes the same bytes.
    change_version()
    assert client.get("/api/v1/assets")["ETag"] == etag
    Listing.objects.filter(pk=listing.pk).update(title="Antiqua")
    listing_changed(Listing.objects.get(pk=listing.pk))
    changed = client.get("/api/v1/assets", HTTP_IF_NONE_MATCH=etag)
    assert (changed.status_code, changed.json()["items"][0]["title"]) == (200, "Antiqua")


def test_request_that_is_refused_is_refused_even_if_the_response_is_cached(listing: Listing) -> None:
    client = APIClient()
    client.get("/api/v1/assets")
    for headers in ({"x-api-key": "cam_sk_wrong"}, {"authorization": "Bearer x"}, {"authorization": ""}):
        answer = client.get("/api/v1/assets", headers=headers)
        assert (answer.json()["code"], answer["Cache-Control"]) == ("invalid_credential", "no-store")
    assert client.get("/api/v1/assets", HTTP_HOST="evil.example").status_code == 400
    assert client.get("/api/v1/assets", HTTP_TRANSFER_ENCODING="chunked").status_code == 411


def test_unknown_session_cookie_does_not_change_a_public_response(listing: Listing) -> None:
    for _ in range(2):
        answer = Client().get("/api/v1/assets", HTTP_COOKIE=f"sessionid={'a' * 32}")
        told = (answer.status_code, answer.cookies.output(), answer["Vary"], answer["Cache-Control"])
        assert told == (200, "", "Accept-Encoding", PUBLIC)


def test_escaped_question_mark_in_a_path_does_not_find_another_cached_response(listing: Listing) -> None:
    client = APIClient()
    assert client.get("/api/v1/assets/search", QUERY_STRING="q=gro?").status_code == 200
    assert client.get("/api/v1/assets/search%3Fq=gro").status_code == 404


def test_query_is_utf8_whatever_charset_the_content_type_names(listing: Listing) -> None:
    def query_of(content_type: str) -> str:
        environ: dict[str, Any] = {"PATH_INFO": "/api/v1/assets/search", "QUERY_STRING": "q=%C3%A9", "CONTENT_TYPE": content_type}
        setup_testing_defaults(environ)
        environ["HTTP_HOST"] = "testserver"
        return str(json.loads(b"".join(wsgi.application(environ, lambda *_args: None)))["query"])

    # Who names a charset comes first, and others find what was made for it.
    assert [query_of(content_type) for content_type in ("text/plain; charset=iso-8859-1", "")] == ["\xe9"] * 2


def cached() -> int:
    return len(caches["responses"]._cache)  # type: ignore[attr-defined]  # only the memory cache, which tests use, can be counted


def test_long_response_or_one_to_a_long_query_is_not_cached_so_that_the_cache_is_limited(
    listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MEMORY_CACHES["responses"]["OPTIONS"]["MAX_ENTRIES"] * public.CACHED_RESPONSE_BYTES <= 32 * bounds.MIB
    APIClient().get("/api/v1/assets/search", {"q": "\xe9" * 150})
    assert cached() == 0
    length = len(APIClient().get("/api/v1/assets").content)
    caches["responses"].clear()
    monkeypatch.setattr(public, "CACHED_RESPONSE_BYTES", length - 1)
    assert APIClient().get("/api/v1/assets").status_code == 200
    assert cached() == 0
    monkeypatch.setattr(public, "CACHED_RESPONSE_BYTES", length)
    assert APIClient().get("/api/v1/assets").status_code == 200
    assert cached() == 1


def test_refusals_are_not_cached_by_anybody(listing: Listing) -> None:
    client, path = APIClient(), "/api/v1/assets/grotesk-two"
    for _ in range(2):
        refused = client.get(path)
        assert (refused.status_code, refused["Cache-Control"], "X-Accel-Expires" in refused) == (404, "no-store", False)
    Listing.objects.filter(pk=listing.pk).update(slug="grotesk-two")
    assert client.get(path).status_code == 200


def test_shared_caches_may_keep_a_response_for_the_seconds_of_the_settings(listing: Listing, settings: Any) -> None:
    for seconds, nginx in ((5, {"3", "4"}), (60, {"58", "59"}), (1, {"0"}), (0, {"0"})):
        settings.SHARED_CACHE_SECONDS = seconds
        for path in PATHS:
            answer = APIClient().get(path)
            assert answer["Cache-Control"] == f"public, max-age=0, s-maxage={seconds}"
            assert answer["X-Accel-Expires"] in nginx


@pytest.mark.slow
def test_change_by_another_connection_shows_in_the_next_response(store: str, listing: Listing, elsewhere: Any) -> None:
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
        assert titles(APIClient()) == ["Antiqua"]
        raise ZeroDivisionError


def test_change_that_is_rolled_back_never_shows(listing: Listing) -> None:
    client = APIClient()
    titles(client)
    with pytest.raises(ZeroDivisionError):
        change_and_give_up(listing)
    assert titles(client) == ["Grotesk"]
    ListingIndex.objects.filter(pk=listing.pk).update(title="Didone")
    change_version()
    assert titles(client) == ["Didone"]


def test_catalog_version_never_repeats(listing: Listing) -> None:
    seen = [current_version(), *(change_version() for _ in range(20))]
    CatalogVersion.objects.all().delete()
    assert len({*seen, current_version(), current_version()}) == 22


def test_response_overtaken_by_a_change_is_not_cached(
    store: str, listing: Listing, elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, find = current_version(), categories_with_counts

    def find_late() -> Any:
        elsewhere(change_version)
        return find()

    with monkeypatch.context() as patch:
        patch.setattr(browsing, "categories_with_counts", find_late)
        APIClient().get("/api/v1/categories")
    # A standby that never heard of the change takes over.
    CatalogVersion.objects.update(value=before)
    monkeypatch.setattr(browsing, "categories_with_counts", list)
    assert APIClient().get("/api/v1/categories").json()["items"] == []


def test_failure_outside_of_the_view_is_a_problem_document_that_no_cache_keeps(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> str:
        raise ValueError

    monkeypatch.setattr(public, "current_version", fail)
    answer = APIClient().get("/api/v1/assets")
    assert (answer.status_code, answer["Content-Type"], answer.json()["code"]) == (500, "application/problem+json", "internal_error")
    assert "public" not in answer.get("Cache-Control", "")
    assert "failed" in caplog.text


@pytest.mark.slow
def test_unavailable_cache_changes_neither_responses_nor_their_freshness(listing: Listing, settings: Any) -> None:
    settings.CACHES = redis_caches(f"redis://127.0.0.1:{free_port()}/0")
    client = APIClient()
    assert (titles(client), titles(client)) == (["Grotesk"], ["Grotesk"])
    unpublish_listing(listing=listing, actor=listing.store.owner)
    assert titles(client) == []

"""The short way of public answers and the way through the viewsets are one to a client, whatever is asked."""

import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.cache import caches
from django.db import OperationalError
from django.test import Client

from catalog import selectors
from catalog.api.caching import Memo
from catalog.models import Listing
from marketplace import wsgi
from tests.factories import PublishedListingFactory

pytestmark = pytest.mark.django_db

SHORT_WAY = "catalog.api.middleware.PublicAnswersMiddleware"
CASES = 300
PATHS = (
    *("categories", "assets", "assets", "assets", "assets/search", "assets/search", "assets/suggest", "assets/{id}", "assets/grotesk"),
    *("assets/unknown", "assets/", "categories/", "assets//", "assets/{id}/", "assets/{id}/manifest", "assets/%C3%A9", "assets/%FF"),
    *("assets/%00", "assets/a%2Fb", "assets/search%3Fq=gro", "assets/%0A", "assets/Grotesk", "ASSETS", "assets/..", "assets/" + "x" * 300),
)
PARAMETERS = {
    "q": ("gro", "Grotesk", "", "  ", "\xe9", "\ud800", "\0", "x" * 500, "gro?"),
    "page": ("1", "2", "0", "-1", "x", "9" * 30, ""),
    "limit": ("1", "50", "500", "0", "x"),
    "sort": ("popular", "newest", "price_asc", "price_desc", "best", ""),
    "category": ("fonts", "nowhere", "\xe9", "a'b"),
    "tier": ("free", "gold"),
    "tag": ("bold", "", "\0"),
    "minPrice": ("0", "1.5", "-1", "NaN", "1e400"),
    "maxPrice": ("3", "x"),
    "currency": ("INR", "USD", "XXX"),
    "facets": ("category", "category,tier", "colour"),
    "cursor": ("x", "eyJ9"),
    "colour": ("red",),
    "format": ("xml",),
}
HEADERS: tuple[dict[str, str], ...] = (
    *({}, {}, {}, {"HTTP_ACCEPT": "text/html"}, {"HTTP_ACCEPT": "application/xml;q=0.1"}, {"HTTP_ORIGIN": "https://elsewhere.example"}),
    *(
        {"HTTP_X_REQUEST_ID": "given-by-caller"},
        {"HTTP_IF_NONE_MATCH": "*"},
        {"HTTP_IF_NONE_MATCH": '"x"'},
    ),
    *(
        {"HTTP_IF_MATCH": '"x"'},
        {"HTTP_X_HTTP_METHOD_OVERRIDE": "DELETE"},
        {"HTTP_X_API_KEY": "cam_sk_x"},
        {"HTTP_AUTHORIZATION": "Bearer x"},
    ),
    *({"HTTP_AUTHORIZATION": ""}, {"HTTP_X_API_KEY": "a", "HTTP_AUTHORIZATION": "Bearer x"}),
    *({"HTTP_TRANSFER_ENCODING": "chunked"}, {"CONTENT_TYPE": "text/plain"}, {"HTTP_IF_MODIFIED_SINCE": "Sat, 01 Jan 2050 00:00:00 GMT"}),
)
METHODS = ("GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "DELETE", "BREW")
# What DRF adds unasked: the methods of the address.
ASIDE = {"Allow"}


@pytest.fixture
def listing() -> Listing:
    """A listing for sale."""
    made: Listing = PublishedListingFactory(title="Grotesk", slug="grotesk", price_inr_minor=10_000)
    return made


@pytest.fixture
def ways(settings: Any) -> tuple[Client, Client]:
    """The whole service, and the service without the short way."""
    short, long = Client(raise_request_exception=False), Client(raise_request_exception=False)
    short.handler.load_middleware()
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != SHORT_WAY]
    long.handler.load_middleware()
    return short, long


def forget() -> None:
    """Let nothing be cached and nobody be counted."""
    for store in caches.all(initialized_only=False):
        store.clear()
    Memo.forget()


def seen(client: Client, method: str, address: str, headers: dict[str, str]) -> dict[str, Any]:
    """Return what a client makes of an answer, but for ids and seconds that are never the same."""
    path, _, query = address.partition("?")
    extra: dict[str, Any] = headers | {"QUERY_STRING": query}
    answer = client.generic(method, path, **extra)
    content = answer.content
    problem = answer.get("Content-Type") == "application/problem+json" and content
    kept = {name: value for name, value in answer.items() if name not in ASIDE}
    given = "HTTP_X_REQUEST_ID" in headers
    request_id = kept.pop("X-Request-Id") if not given else ""
    kept["RateLimit"] = kept.get("RateLimit", "").partition(";t=")[0]
    if answer.status_code == 304 or method == "HEAD":
        # Django states a length of 0 for what has no body.
        kept.pop("Content-Length", None)
    body = content.replace(request_id.encode(), b"") if problem and request_id else content
    return {"status": answer.status_code, "headers": kept, "body": body, "cookies": answer.cookies.output()}


def requests(listing: Listing) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield requests as the dice fall."""
    dice = random.Random(5)
    for _ in range(CASES):
        names = dice.sample(sorted(PARAMETERS), dice.choice([0, 0, 1, 1, 2, 3]))
        pairs = [(name, dice.choice(PARAMETERS[name])) for name in [*names, *names[: dice.randrange(2)]]]
        query = "&".join(f"{name}={quote(value, errors='surrogatepass')}" for name, value in pairs)
        path = f"/api/v1/{dice.choice(PATHS).format(id=listing.pk)}"
        yield dice.choice(METHODS), f"{path}?{query}", dice.choice(HEADERS)


def test_both_ways_answer_alike(listing: Listing, ways: tuple[Client, Client]) -> None:
    statuses = set()
    for method, address, headers in requests(listing):
        first, again = [], []
        for client in ways:
            forget()
            first.append(seen(client, method, address, headers))
            # Once more: now it may be cached.
            again.append(seen(client, method, address, headers))
        assert first[0] == first[1], (method, address, headers)
        assert again[0] == again[1], (method, address, headers)
        statuses.add(first[0]["status"])
    assert statuses >= {200, 400, 401, 404, 405, 411, 412}


def test_session_that_is_none_has_no_part_in_a_public_answer(listing: Listing, ways: tuple[Client, Client]) -> None:
    # Views would end it with a cookie, and no cache on the way could keep the answer for all.
    answer = ways[0].get("/api/v1/assets", HTTP_COOKIE="sessionid=abc")
    assert (answer.status_code, answer.cookies.output(), "Vary" in answer) == (200, "", False)


def test_both_ways_answer_alike_to_the_present_validator(listing: Listing, ways: tuple[Client, Client]) -> None:
    address = "/api/v1/assets?"
    etag = ways[0].get(address)["ETag"]
    for asked in (etag, f'W/{etag}, "x"', f'"x", {etag}'):
        for header in ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"):
            for method in ("GET", "HEAD"):
                forget()
                short = seen(ways[0], method, address, {header: asked})
                refused = header == "HTTP_IF_MATCH" and asked.startswith("W/")
                assert short["status"] == (304 if header == "HTTP_IF_NONE_MATCH" else 412 if refused else 200), (method, header, asked)
                forget()
                assert short == seen(ways[1], method, address, {header: asked}), (method, header, asked)


@pytest.mark.parametrize("error", [OperationalError("gone"), ZeroDivisionError("a mistake"), OSError(28, "full")])
def test_both_ways_fail_alike(
    listing: Listing, ways: tuple[Client, Client], monkeypatch: pytest.MonkeyPatch, caplog: Any, settings: Any, error: Exception
) -> None:
    def fail(*_args: object) -> Any:
        raise error

    monkeypatch.setattr(selectors, "detail_for_sale", fail)
    # Where a developer looks for mistakes too: a program is never answered with a page.
    settings.DEBUG = True
    logged = []
    answers = []
    for client in ways:
        caplog.clear()
        answers.append(seen(client, "GET", "/api/v1/assets/grotesk?", {}))
        logged.append([record.getMessage() for record in caplog.records if record.name.startswith("marketplace")])
        forget()
    assert answers[0] == answers[1]
    assert answers[0]["headers"]["Content-Type"] == "application/problem+json"
    assert logged[0] == logged[1] == ["GET '/api/v1/assets/grotesk' failed"]


def test_too_many_parameters_are_refused_either_way(listing: Listing, ways: tuple[Client, Client]) -> None:
    address = "/api/v1/assets?" + "&".join(f"a{number}=1" for number in range(300))
    short = seen(ways[0], "GET", address, {})
    forget()
    assert short == seen(ways[1], "GET", address, {})
    assert (short["status"], b'"malformed_request"' in short["body"]) == (400, True)


def test_question_mark_within_a_path_finds_no_answer_of_another_address(listing: Listing, ways: tuple[Client, Client]) -> None:
    assert ways[0].get("/api/v1/assets/search", QUERY_STRING="q=gro?").status_code == 200
    for client in ways:
        assert client.get("/api/v1/assets/search%3Fq=gro").status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("charset", ["iso-8859-1", "us-ascii", "utf-8"])
def test_address_means_the_same_whatever_charset_is_named(listing: Listing, charset: str) -> None:
    def query_of(content_type: str) -> bytes:
        environ: dict[str, Any] = {"PATH_INFO": "/api/v1/assets/search", "QUERY_STRING": "q=%C3%A9", "CONTENT_TYPE": content_type}
        setup_testing_defaults(environ)
        environ["HTTP_HOST"] = "testserver"
        return b"".join(wsgi.application(environ, lambda *_args: None))

    # Who names a charset comes first, and others find what was made for it.
    for content_type in (f"text/plain; charset={charset}", ""):
        assert '{"query":"é"' in query_of(content_type).decode()

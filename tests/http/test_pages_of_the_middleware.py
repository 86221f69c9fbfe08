"""What pages get on their way out: compression, and a page where Django answers with nothing."""

import gzip
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.test import Client, RequestFactory
from django.urls import get_resolver
from rest_framework.test import APIClient

from marketplace.accounts.models import User
from marketplace.api.problems import problem_response
from marketplace.core.errors import DependencyUnavailable, InternalError, MalformedRequest, Problem
from tests.architecture.source import patterns
from tests.callers import signed_in
from tests.shop import on_sale, store_keeping

pytestmark = pytest.mark.django_db


def test_page_is_compressed_for_a_browser_that_takes_it() -> None:
    plain, small = Client().get("/problems"), Client().get("/problems", headers={"Accept-Encoding": "gzip, br"})
    assert len(small.content) < len(plain.content) / 2
    assert gzip.decompress(small.content) == plain.content


@pytest.mark.parametrize(
    ("taken", "compressed"), [("gzip;q=0", False), ("br, gzip ; q=0.000", False), ("gzip;q=0.5", True), ("gzip;q=1, br;q=0", True)]
)
def test_page_is_compressed_for_clients_that_take_it_and_no_others(taken: str, *, compressed: bool) -> None:
    response = Client().get("/problems", headers={"Accept-Encoding": taken})
    assert ("Content-Encoding" in response) is compressed
    assert "Accept-Encoding" in response["Vary"]


@pytest.mark.slow
def test_length_of_a_compressed_page_reveals_nothing_about_its_contents() -> None:
    lengths = {len(Client().get("/problems", headers={"Accept-Encoding": "gzip"}).content) for _ in range(8)}
    assert len(lengths) > 1


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/api/v1/schema", "/api/v1/assets", "/llms.txt"])
def test_large_public_response_is_compressed_under_a_weak_validator(path: str) -> None:
    for number in range(3):
        on_sale(title=f"Face {number}")
    plain, small = Client().get(path), Client().get(path, headers={"Accept-Encoding": "gzip"})
    assert small["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.content) == plain.content
    assert "Accept-Encoding" in small["Vary"]
    if path == "/api/v1/assets":
        assert small["ETag"] == f"W/{plain['ETag']}"
        again = Client().get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": small["ETag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_private_response_is_sent_as_it_is(bearer_client: Callable[..., APIClient]) -> None:
    store = store_keeping(2000)
    listing = on_sale(store=store)
    answer = bearer_client(store.owner).get(f"/api/v1/vendor/assets/{listing.pk}", headers={"Accept-Encoding": "gzip"})
    assert (answer.status_code, len(answer.content) > 1000, "Content-Encoding" in answer.headers) == (200, True, False)


# What stands for the parts of an address, by their converters.
PARTS = {"uuid": "0192f0c1-d5e8-7a8f-9a3b-0192f0c1d5e8", "int": "1"}


def pages() -> list[str]:
    """Return an address of each view, without those of the API and of its tools."""
    found: dict[Any, str] = {}
    for route, pattern in patterns(get_resolver()):
        if not route.startswith(("api/", "mcp")):
            view = inspect.unwrap(pattern.callback)
            # The methods of each model's admin are bound to it, and are those of all.
            found.setdefault(getattr(view, "view_class", None) or getattr(view, "__func__", view), route)
    return [address_of(route) for route in found.values()]


def address_of(route: str) -> str:
    # Those of libraries are patterns.
    path = re.sub(r"\(\?P<\w+>[^)]*\)", "x", route)
    path = re.sub(r"<(?:(\w+):)?\w+>", lambda part: PARTS.get(part[1], "x"), path)
    return "/" + re.sub(r"[\^$]|\\Z", "", path)


@pytest.mark.slow
def test_options_names_the_methods_of_every_page_to_anybody(reviewer: User) -> None:
    paths = pages()
    assert len(paths) > 250
    session = signed_in(reviewer).cookies[settings.SESSION_COOKIE_NAME].value

    def is_refused(method: str, path: str) -> bool:
        client = Client(raise_request_exception=False)
        client.cookies[settings.SESSION_COOKIE_NAME] = session
        # No limit is to be reached, and what one request did, such as ending the account, is nothing to the next.
        cache.clear()
        with transaction.atomic():
            status = client.generic(method, path).status_code
            transaction.set_rollback(True)
        return status == 405

    wrong = []
    for path in paths:
        options = Client().options(path)
        named = set(options.get("Allow", "").split(", "))
        # Where GET is answered, HEAD is too, by the same view; what no page answers is refused like PUT.
        asked = ("GET" if "GET" in named else "HEAD", "POST", "PUT", *named & {"PATCH", "DELETE"})
        wrong += [] if options.status_code in {200, 204} else [("OPTIONS", path)]
        wrong += [(method, path) for method in asked if is_refused(method, path) is (method in named)]
    assert wrong == []


def test_post_to_a_page_without_a_form_is_an_error_page() -> None:
    response = Client().post("/docs", headers={"Accept": "text/html"})
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")
    assert b"The method is not allowed here" in response.content


def test_wrong_method_is_a_problem_document_for_programs() -> None:
    response = Client().post("/docs", headers={"Accept": "application/json"})
    assert (response.status_code, response.content) == (405, b"")


@pytest.mark.parametrize("problem", [MalformedRequest, InternalError])
def test_error_is_a_page_for_browsers_and_a_problem_document_for_programs(rf: RequestFactory, problem: type[Problem]) -> None:
    page = problem_response(problem(), rf.get("/browse")).content.decode()
    assert problem.detail not in page
    assert problem.detail in problem_response(problem(), rf.get("/api/v1/categories")).content.decode()


def test_error_page_shows_the_detail_of_the_error(rf: RequestFactory) -> None:
    assert "No room left." in problem_response(DependencyUnavailable("No room left."), rf.get("/browse")).content.decode()

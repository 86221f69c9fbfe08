"""What pages get on their way out: compression, and a page where Django answers with nothing."""

import gzip
import re
from collections.abc import Callable, Iterator

import pytest
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.urls import get_resolver
from rest_framework.test import APIClient

from marketplace.api.problems import problem_response
from marketplace.core.errors import DependencyUnavailable, InternalError, MalformedRequest, Overloaded, Problem
from tests.factories import UserFactory
from tests.shop import on_sale, store_keeping
from tests.web.routes import routes

pytestmark = pytest.mark.django_db


def test_page_is_compressed_for_a_browser_that_takes_it() -> None:
    plain, small = Client().get("/problems"), Client().get("/problems", headers={"Accept-Encoding": "gzip, br"})
    assert small["Content-Encoding"] == "gzip"
    assert len(small.content) < len(plain.content) / 2
    assert gzip.decompress(small.content) == plain.content
    assert "Accept-Encoding" in small["Vary"]


@pytest.mark.parametrize("taken", ["gzip;q=0", "GZIP ; q=0.000, identity", "br, gzip; q=0"])
def test_page_is_not_compressed_for_a_client_that_refuses_it(taken: str) -> None:
    response = Client().get("/problems", headers={"Accept-Encoding": taken})
    assert "Content-Encoding" not in response
    assert "Accept-Encoding" in response["Vary"]


@pytest.mark.parametrize("taken", ["gzip;q=0.5", "gzip;q=1, br;q=0"])
def test_page_is_compressed_for_a_client_that_prefers_another_encoding(taken: str) -> None:
    assert Client().get("/problems", headers={"Accept-Encoding": taken})["Content-Encoding"] == "gzip"


@pytest.mark.slow
def test_length_of_a_compressed_page_reveals_nothing_about_its_contents() -> None:
    lengths = {len(Client().get("/problems", headers={"Accept-Encoding": "gzip"}).content) for _ in range(8)}
    assert len(lengths) > 1


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/api/v1/schema", "/api/v1/assets", "/llms.txt"])
def test_large_public_response_is_compressed_under_a_weak_validator(path: str) -> None:
    titles = [on_sale(title=f"Face {number}").title for number in range(3)]
    plain, small = Client().get(path), Client().get(path, headers={"Accept-Encoding": "gzip"})
    assert small["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.content) == plain.content
    assert "Accept-Encoding" in small["Vary"]
    if path == "/api/v1/assets":
        assert titles[0] in plain.content.decode()
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


def addresses() -> Iterator[str]:
    """Yield an address of each route."""
    for route, _ in routes(get_resolver().url_patterns):
        # Those of libraries are patterns.
        path = re.sub(r"\(\?P<\w+>[^)]*\)", "x", route)
        path = re.sub(r"<(?:(\w+):)?\w+>", lambda part: PARTS.get(part[1], "x"), path)
        yield "/" + re.sub(r"[\^$]|\\Z", "", path)


@pytest.mark.slow
def test_options_names_the_methods_of_every_address_to_anybody() -> None:
    paths = list(addresses())
    assert len(paths) > 400
    answers = {path: Client().options(path) for path in paths}
    assert {path: answer.status_code for path, answer in answers.items() if answer.status_code not in {200, 204}} == {}
    named = {path: set(answer.get("Allow", "").split(", ")) for path, answer in answers.items()}
    # There, other methods are refused once the caller is known.
    paths.remove("/mcp")
    root, wrong = Client(raise_request_exception=False), []
    for path in paths:
        # The last address may have ended the account; and no limit is to be reached.
        root.force_login(UserFactory(is_staff=True, is_superuser=True))
        cache.clear()
        # Where GET is answered, HEAD is too, by the same view.
        for method in ("GET" if "GET" in named[path] else "HEAD", "POST", "PUT", "PATCH", "DELETE"):
            refused = root.generic(method, path).status_code == 405
            if refused is (method in named[path]):
                wrong.append((method, path))
    assert wrong == []


def test_post_to_a_page_without_a_form_is_an_error_page() -> None:
    response = Client().post("/docs", headers={"Accept": "text/html"})
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")
    assert b"The method is not allowed here" in response.content


def test_wrong_method_is_a_problem_document_for_programs() -> None:
    response = Client().post("/docs", headers={"Accept": "application/json"})
    assert (response.status_code, response.content) == (405, b"")


@pytest.mark.parametrize("problem", [MalformedRequest, InternalError, Overloaded, DependencyUnavailable])
def test_error_is_a_page_for_browsers_and_a_problem_document_for_programs(rf: RequestFactory, problem: type[Problem]) -> None:
    page = problem_response(problem(), rf.get("/browse")).content.decode()
    assert problem.detail not in page
    assert problem.detail in problem_response(problem(), rf.get("/api/v1/categories")).content.decode()


def test_error_page_shows_the_detail_of_the_error(rf: RequestFactory) -> None:
    assert "No room left." in problem_response(DependencyUnavailable("No room left."), rf.get("/browse")).content.decode()

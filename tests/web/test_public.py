"""Pages for everyone: start page, error codes, what robots and browsers ask for."""

import json
from collections.abc import Callable
from unittest.mock import patch

import pytest
from bs4 import BeautifulSoup
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.staticfiles import finders
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.core.errors import DependencyUnavailable, NotFound, all_problems


@pytest.mark.django_db
def test_start_page_of_an_empty_shop_has_its_links(client: Client) -> None:
    page = BeautifulSoup(client.get("/").content, "html.parser")
    links = {link["href"] for link in page.select("a[href]")}
    assert {reverse("account_signup"), reverse("account_login"), reverse("browse"), "/api/v1/docs", "/docs/quick-start"} <= links
    assert "nothing on sale yet" in page.get_text()


@pytest.mark.django_db
def test_start_page_leads_someone_signed_in_to_the_dashboard_and_staff_to_the_admin(browse: Callable[..., Client], reviewer: User) -> None:
    text = browse().get("/").content.decode()
    assert reverse("dashboard") in text
    assert reverse("account_signup") not in text
    assert reverse("admin:index") not in text
    assert reverse("admin:index") in browse(reviewer).get("/").content.decode()


def test_unknown_problem_code_is_a_404_page(client: Client) -> None:
    response = client.get("/problems/no_such_code", headers={"x-request-id": "test-request-1"})
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")
    text = response.content.decode()
    assert NotFound.title in text
    assert response["X-Request-Id"] == "test-request-1"
    assert "test-request-1" in text
    assert reverse("problem", args=["not_found"]) in text


@pytest.mark.parametrize("path", ["/nothing", "/dashboard/nothing", "/dashboard/apps/not-a-uuid", "/problems/", "/problems/a/b"])
def test_unknown_path_is_not_found(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.slow
def test_every_code_has_its_page_and_is_in_the_index(client: Client) -> None:
    index = client.get(reverse("problems")).content.decode()
    for code, problem in all_problems().items():
        address = reverse("problem", args=[code])
        assert address == f"/problems/{code}"
        assert f'"{address}"' in index
        page = BeautifulSoup(client.get(address).content, "html.parser")
        assert [heading.get_text() for heading in page.select("h1")] == [problem.title]
        example = json.loads("".join(block.get_text() for block in page.select("pre")))
        assert example["code"] == code
        assert example["type"] == f"http://testserver{address}"


def test_problem_page_explains_the_members_of_the_problem(client: Client) -> None:
    text = client.get("/problems/insufficient_scope").content.decode()
    assert "<code>requiredScope</code>" in text or "`requiredScope`" in text
    assert "403: " not in text


def test_favicon_at_the_root_redirects_to_the_icon(client: Client) -> None:
    location = client.get("/favicon.ico")["Location"]
    assert location == "/static/favicon.svg"
    assert finders.find("favicon.svg")
    assert finders.find("css/tokens.css")


@pytest.mark.django_db
def test_problem_page_is_shown_even_when_the_database_is_down(browse: Callable[..., Client]) -> None:
    client = browse()
    client.raise_request_exception = False
    with patch.object(SessionStore, "load", side_effect=OperationalError("down")):
        response = client.get(reverse("dashboard"))
        missing = client.get("/nothing")
    assert response.status_code == 503
    assert DependencyUnavailable.title in response.content.decode()
    assert missing.status_code == 404
    assert "Not found" in missing.content.decode()


@pytest.mark.django_db
def test_problem_page_keeps_the_navigation_of_someone_signed_in(browse: Callable[..., Client], client: Client) -> None:
    assert f'href="{reverse("dashboard")}"' in browse().get("/nothing").content.decode()
    assert f'href="{reverse("account_login")}"' in client.get("/nothing").content.decode()


def test_problem_page_for_a_host_that_is_not_ours(client: Client) -> None:
    response = client.get("/?from=evil.example", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert "X-Request-Id" in response
    assert response["X-Request-Id"] in response.content.decode()
    assert "evil.example" not in response.content.decode()

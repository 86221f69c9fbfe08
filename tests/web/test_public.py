"""Pages for everyone: error codes, what browsers ask for, what is not there."""

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
from marketplace.core.errors import all_problems

from .markup import faults_of


@pytest.mark.django_db
def test_start_page_leads_someone_signed_in_to_the_dashboard_and_staff_alone_to_the_admin(
    browse: Callable[..., Client], client: Client, reviewer: User
) -> None:
    for each, names in (
        (client, {"account_login", "account_signup"}),
        (browse(), {"dashboard"}),
        (browse(reviewer), {"dashboard", "admin:index"}),
    ):
        links = {str(link["href"]) for link in BeautifulSoup(each.get("/").content, "html.parser").select("header a[href]")}
        assert {name for name in ("account_login", "account_signup", "dashboard", "admin:index") if reverse(name) in links} == names


def test_unknown_problem_code_is_a_404_page(client: Client) -> None:
    response = client.get("/problems/no_such_code", headers={"x-request-id": "test-request-1"})
    assert (response.status_code, response["X-Request-Id"], faults_of(response.content)) == (404, "test-request-1", [])
    assert "test-request-1" in response.content.decode()


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


def test_favicon_at_the_root_redirects_to_the_icon(client: Client) -> None:
    assert client.get("/favicon.ico")["Location"] == "/static/favicon.svg"
    assert finders.find("favicon.svg")


@pytest.mark.django_db
def test_problem_page_is_shown_even_when_the_database_is_down(browse: Callable[..., Client]) -> None:
    client = browse()
    client.raise_request_exception = False
    with patch.object(SessionStore, "load", side_effect=OperationalError("down")):
        assert client.get(reverse("dashboard")).status_code == 503
        assert client.get("/nothing").status_code == 404


def test_problem_page_for_a_host_that_is_not_ours(client: Client) -> None:
    response = client.get("/?from=evil.example", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert "X-Request-Id" in response
    assert response["X-Request-Id"] in response.content.decode()
    assert "evil.example" not in response.content.decode()

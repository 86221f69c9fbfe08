"""Which pages of other sites may call the API and the tools: a browser asks first, then reads the answer or not."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from developers import origins
from developers.models import AccessToken, App
from developers.redirects import origin_of
from developers.services.apps import suspend_app
from developers.services.credentials import issue_api_key
from developers.services.scopes import narrow_scopes
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope
from tests.developers.cases import token_of
from tests.factories import AppFactory, UserFactory

from .parties import CALLBACK, LOOPBACK, MCP, Party, move

pytestmark = pytest.mark.django_db

OWN, OTHER, STRANGER = "https://app.example", "https://other.example", "https://evil.example"
LOCAL = ["http://localhost:6274", "http://127.0.0.1:6274", "http://[::1]"]
WALLET = "/api/v1/wallet"


@pytest.fixture(autouse=True)
def _origins(app: App) -> None:
    """Two approved apps with pages of their own."""
    App.objects.filter(pk=app.pk).update(redirect_uris="")
    move(app, CALLBACK, LOOPBACK)
    other = AppFactory(granted_scopes="account:read")
    move(other, f"{OTHER}:443/callback")


def preflight(origin: str, path: str = WALLET, headers: str = "authorization") -> Any:
    """Ask as a browser does before it sends a script's call."""
    asked = {"origin": origin, "access-control-request-method": "GET", "access-control-request-headers": headers}
    return Client().options(path, headers=asked)


def read(origin: str, token: str, path: str = WALLET) -> Any:
    return Client().get(path, headers={"origin": origin, "authorization": f"Bearer {token}"})


def is_allowed(response: Any, origin: str) -> bool:
    """Tell whether a browser lets a script of the origin see the answer."""
    assert "Access-Control-Allow-Credentials" not in response
    assert "origin" in response.get("Vary", "").lower()
    return bool(response.get("Access-Control-Allow-Origin") == origin)


def test_origin_of_an_app_may_call_the_api_with_a_token_of_the_app(party: Party) -> None:
    asked = preflight(OWN)
    assert is_allowed(asked, OWN)
    assert "authorization" in asked["Access-Control-Allow-Headers"]
    answer = read(OWN, party.tokens()["access_token"])
    assert (answer.status_code, is_allowed(answer, OWN)) == (200, True)
    assert {"RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate"} <= set(answer["Access-Control-Expose-Headers"].split(", "))


def test_origin_of_another_app_passes_the_preflight_but_cannot_read_the_response(party: Party) -> None:
    assert is_allowed(preflight(OTHER), OTHER)
    assert not is_allowed(read(OTHER, party.tokens()["access_token"]), OTHER)


def test_origin_of_no_app_is_not_allowed(party: Party) -> None:
    token = party.tokens()["access_token"]
    for origin in (STRANGER, f"{OWN}.evil.example", "http://app.example", f"{OWN}:8443", "null", "https://a\x00b"):
        assert "Access-Control-Allow-Origin" not in preflight(origin), origin
        assert "Access-Control-Allow-Origin" not in read(origin, token), origin


def test_loopback_origin_of_an_app_may_have_any_port(party: Party) -> None:
    origin = "http://127.0.0.1:5173"
    assert is_allowed(preflight(origin), origin)
    assert is_allowed(read(origin, party.tokens()["access_token"]), origin)
    assert "Access-Control-Allow-Origin" not in preflight("http://localhost:5173")


def test_refusal_of_an_expired_token_or_a_missing_scope_is_readable_by_the_origin_of_the_app(party: Party) -> None:
    token = party.tokens()["access_token"]
    narrow_scopes(app=party.app, scopes={Scope.ACCOUNT_READ}, reason="Misused", actor=UserFactory())
    answer = read(OWN, token)
    assert (answer.status_code, is_allowed(answer, OWN)) == (403, True)
    AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    answer = read(OWN, token)
    assert (answer.status_code, is_allowed(answer, OWN)) == (401, True)
    assert not is_allowed(read(STRANGER, token), STRANGER)


def test_origin_of_an_app_cannot_read_with_a_personal_token_or_key(app: App, user: User) -> None:
    _, personal = token_of("personal")
    assert not is_allowed(read(OWN, personal), OWN)
    _, key = issue_api_key(app=app, name="key", actor=app.developer)
    answer = Client().get(WALLET, headers={"origin": OWN, "x-api-key": key})
    assert (answer.status_code, is_allowed(answer, OWN)) == (200, False)
    assert "x-api-key" not in preflight(OWN, headers="x-api-key")["Access-Control-Allow-Headers"]


def test_origin_is_removed_with_its_redirect_uri_and_with_the_suspension_of_the_app(app: App) -> None:
    move(app, "https://moved.example/callback")
    assert not is_allowed(preflight(OWN), OWN)
    assert is_allowed(preflight("https://moved.example"), "https://moved.example")
    suspend_app(app=app, reason="Abuse", actor=UserFactory())
    assert not is_allowed(preflight("https://moved.example"), "https://moved.example")


def test_origin_of_an_app_may_read_only_the_api(browser: Client) -> None:
    for path in ("/dashboard", "/oauth/authorize", "/mcpx", "/admin/"):
        assert "Access-Control-Allow-Origin" not in browser.get(path, headers={"origin": OWN}), path


def test_preflight_is_answered_by_one_query(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        preflight(OWN)
    with django_assert_num_queries(0):
        preflight("not an origin")


@pytest.mark.parametrize(
    ("uri", "origin"),
    [
        ("https://App.Example/cb", "https://app.example"),
        ("https://app.example:443/cb", "https://app.example"),
        ("https://app.example:8443/cb?x=1", "https://app.example:8443"),
        ("https://[2001:DB8::1]/cb", "https://[2001:db8::1]"),
        ("http://[::1]:7000/cb", "http://[::1]"),
        ("http://localhost/cb", "http://localhost"),
    ],
)
def test_origin_of_a_redirect_uri_is_spelt_as_browsers_send_it(uri: str, origin: str) -> None:
    assert origin_of(uri) == origin


def test_unavailable_database_does_not_crash_the_check_of_origins(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "is_open_to_origin", Mock(side_effect=OperationalError))
    asked = preflight(OWN)
    assert (asked.status_code, is_allowed(asked, OWN)) == (200, False)


# --- the tools


def ask_tools(origin: str, token: str) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"origin": origin, "authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    return Client().post("/mcp", body, content_type="application/json", headers=headers)


def test_only_the_origin_of_an_app_may_call_the_mcp_endpoint_with_a_token_of_the_app(party: Party) -> None:
    token = party.tokens(resource=MCP)["access_token"]
    for origin in (OWN, OTHER, STRANGER, LOCAL[0]):
        answer = ask_tools(origin, token)
        assert (answer.status_code != 403, is_allowed(answer, origin)) == (origin == OWN, origin == OWN), origin
    assert is_allowed(preflight(OWN, "/mcp"), OWN)
    assert not is_allowed(preflight(LOCAL[0], "/mcp"), LOCAL[0])


def test_local_server_lets_programs_on_the_same_computer_call_the_tools_and_nothing_else(settings: Any) -> None:
    settings.BASE_URL = "http://127.0.0.1:8000"
    _, secret = token_of("mcp")
    for origin in LOCAL:
        assert is_allowed(preflight(origin, "/mcp"), origin), origin
        answer = ask_tools(origin, secret)
        assert (answer.status_code != 403, is_allowed(answer, origin)) == (True, True), origin
    assert "Access-Control-Allow-Origin" not in preflight(LOCAL[0])


def test_local_server_refuses_a_page_of_another_host_that_resolves_to_it(settings: Any) -> None:
    settings.BASE_URL = "http://127.0.0.1:8000"
    _, secret = token_of("mcp")
    for origin in ("http://127.0.0.1.evil.example", "http://evil.example:8000", "https://localhost.evil.example", "null"):
        assert not is_allowed(preflight(origin, "/mcp"), origin), origin
        assert ask_tools(origin, secret).status_code == 403, origin

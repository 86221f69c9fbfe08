"""What the token and revocation endpoints make of any request at all: its body, how often it comes, from where."""

from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from django.db import OperationalError
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from developers import bounds
from developers.models import App
from developers.oauth import server
from marketplace.http import rate_limits
from tests.factories import AppFactory

from .parties import Party, assert_error, call, end_grace, post_form

FORM = "application/x-www-form-urlencoded"
ENDPOINTS = ["/oauth/token", "/oauth/revoke"]

NAMES = [
    "grant_type",
    "client_id",
    "code",
    "code_verifier",
    "redirect_uri",
    "refresh_token",
    "scope",
    "resource",
    "token",
    "token_type_hint",
]
BROKEN = [
    *(f"{name}={value}" for name in NAMES for value in ("%", "%ff", "%00", "%ed%a0%80", "+", "\u00e9", "a" * 3000)),
    "&".join(f"{number}=x" for number in range(bounds.MAX_OAUTH_PARAMETERS + 1)),
    "=",
    "&&;;",
    "client_id[]=x",
]
TYPES = [
    FORM,
    f"{FORM}; charset=utf-8",
    f"{FORM}; charset=utf-7",
    f"{FORM}; charset=utf-16",
    f"{FORM}; charset=nonsense",
    f"{FORM}; charset",
    "multipart/form-data; boundary=x",
    "multipart/form-data; boundary=x; charset=utf-7",
    "multipart/form-data",
    "application/json",
    "text/plain",
    "",
    ";;;",
]

pytestmark = pytest.mark.django_db


def test_body_that_is_no_readable_form_in_utf8_is_refused(client: Client, subtests: pytest.Subtests) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n+2AA-\r\n--x--\r\n'
    for kind in TYPES[2:]:
        with subtests.test(kind):
            assert_error(client.generic("POST", "/oauth/token", body, content_type=kind), "invalid_request")
    for form in (b"\xff\xfe", b"token=%ff", b"client_id=a&client_id=a", b"a=" + b"x" * bounds.OAUTH_BODY_BYTES):
        with subtests.test(str(form[:30])):
            assert_error(client.generic("POST", "/oauth/token", form, content_type=FORM), "invalid_request")
    for length in ("many", "-1", "9" * 30):
        with subtests.test(length):
            answer = client.generic("POST", "/oauth/token", b"", content_type=FORM, CONTENT_LENGTH=length)
            assert answer.status_code in {400, 401}
    assert_error(client.generic("POST", "/oauth/revoke", b"token=a&token=b", content_type=FORM), "invalid_request")


@pytest.mark.slow
@hypothesis_settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    path=st.sampled_from(ENDPOINTS),
    kind=st.sampled_from(TYPES) | st.just(FORM),
    body=st.binary(max_size=200)
    | st.lists(st.sampled_from(BROKEN), max_size=4).map(lambda parts: "&".join(parts).encode())
    | st.lists(st.tuples(st.sampled_from(NAMES), st.text(max_size=60)), max_size=6).map(
        lambda pairs: urlencode(pairs, errors="replace").encode()
    ),
    query=st.sampled_from(["", "a=b", "%ff", "client_id=x"]),
)
def test_oauth_endpoints_answer_any_body_without_a_500(settings: Any, path: str, kind: str, body: bytes, query: str) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"oauth_failures": 10**6}
    response = Client().generic("POST", path, body, content_type=kind, QUERY_STRING=query)
    assert response.status_code < 500
    assert (response["Cache-Control"], response["Content-Type"]) == ("no-store", "application/json")
    if response.status_code != 200:
        assert response.json()["error"]
        assert response.json()["error_description"]


@pytest.mark.slow
@hypothesis_settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    changes=st.dictionaries(st.sampled_from([*NAMES, "state", "code_challenge"]), st.text(max_size=60) | st.none(), max_size=4),
    tail=st.sampled_from(["", *BROKEN]) | st.text(st.characters(max_codepoint=255), max_size=40),
    kind=st.sampled_from(TYPES),
)
def test_no_address_crashes_the_consent_page(party: Party, changes: dict[str, Any], tail: str, kind: str) -> None:
    query = urlencode(party.parameters(**changes), errors="replace")
    response = party.browser.generic("GET", "/oauth/authorize", content_type=kind, QUERY_STRING=f"{query}&{tail}")
    assert response.status_code in {200, 303, 400}


def test_other_methods_at_the_oauth_endpoints_are_a_405(client: Client) -> None:
    for path in ENDPOINTS:
        for method in ("GET", "PUT", "HEAD"):
            response = client.generic(method, path)
            assert (response.status_code, response["Allow"]) == (405, "POST, OPTIONS"), (method, path)


def test_too_many_failures_from_an_address_are_429_at_this_endpoint_only(party: Party, settings: Any) -> None:
    tokens = party.tokens()
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"oauth_failures": 2}
    assert [party.refresh("x").status_code for _ in range(2)] == [400, 400]
    response = party.refresh(tokens["refresh_token"])
    assert_error(response, "temporarily_unavailable", 429)
    assert 1 <= int(response["Retry-After"]) <= 60
    assert "r=0" in response["RateLimit"]
    assert post_form("/oauth/token", {"client_id": "nobody"}, REMOTE_ADDR="192.0.2.7").status_code == 400
    assert post_form("/oauth/revoke", {"client_id": party.app.client_id, "token": tokens["refresh_token"]}).status_code == 200
    assert call(tokens["access_token"]).status_code == 401


def test_users_of_one_server_are_not_counted_as_one_guesser(party: Party, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"oauth_failures": 1, "oauth_client": 3}
    secret = party.tokens()["refresh_token"]
    for _ in range(2):
        answer = party.refresh(secret)
        assert answer.status_code == 200
        secret = answer.json()["refresh_token"]
    response = party.refresh(secret)
    assert_error(response, "temporarily_unavailable", 429)
    # Nothing was used up, and nobody else pays for it.
    other = Party(AppFactory(redirect_uris=party.redirect_uri, granted_scopes="catalog:read account:read"), party.browser)
    assert other.tokens()["access_token"]
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"oauth_client": 100}
    assert party.refresh(secret).status_code == 200


def test_calls_from_one_address_do_not_exhaust_the_limit_of_a_client_elsewhere(party: Party, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"oauth_client": 1}
    body = {"client_id": party.app.client_id, "token": "x"}
    assert [post_form("/oauth/revoke", body, REMOTE_ADDR="192.0.2.7").status_code for _ in range(2)] == [200, 429]
    assert post_form("/oauth/revoke", body).status_code == 200


def test_oauth_endpoints_work_without_the_rate_limit_store(party: Party, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "get_usage", Mock(side_effect=ConnectionError))
    tokens = party.tokens()
    assert party.refresh(tokens["refresh_token"]).status_code == 200
    end_grace()
    assert_error(party.refresh(tokens["refresh_token"]), "invalid_grant")


def test_unavailable_database_is_a_503_at_the_oauth_endpoints(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "token_response", Mock(side_effect=OperationalError))
    response = post_form("/oauth/token", {"token": "x"})
    assert_error(response, "temporarily_unavailable", 503)
    assert response["Retry-After"]


def test_exchange_needs_no_redirect_while_that_of_its_code_is_registered(party: Party) -> None:
    assert party.exchange(party.code(), redirect_uri=None).status_code == 200
    code = party.code()
    App.objects.filter(pk=party.app.pk).update(redirect_uris="https://app.example/other")
    assert_error(party.exchange(code, redirect_uri=None), "invalid_grant")


OPEN = [
    *((path, "POST") for path in ENDPOINTS),
    *((f"/.well-known/oauth-{name}", "GET") for name in ("authorization-server", "protected-resource", "protected-resource/mcp")),
]


@pytest.mark.parametrize(("path", "method"), OPEN)
def test_script_of_any_origin_may_call_without_credentials(browser: Client, path: str, method: str) -> None:
    origin = {"origin": "https://app.example"}
    asked = {"access-control-request-method": method, "access-control-request-headers": "content-type, mcp-protocol-version"}
    preflight = browser.options(path, headers=origin | asked)
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert method in preflight["Access-Control-Allow-Methods"]
    assert preflight["Access-Control-Allow-Headers"] == "*"
    for response in (
        preflight,
        browser.generic(method, path, content_type=FORM, headers=origin),
        browser.get("/oauth/token", headers=origin),
        # In words, where a page is asked for.
        browser.get("/oauth/token", headers=origin | {"accept": "text/html"}),
    ):
        assert response["Access-Control-Allow-Origin"] == "*"
        assert "Retry-After" in response["Access-Control-Expose-Headers"]
        assert "Access-Control-Allow-Credentials" not in response
        assert not response.cookies
        # Cookies change nothing here but the navigation of an error's page.
        assert "Cookie" not in response.get("Vary", "") or response["Content-Type"].startswith("text/html")


def test_token_endpoint_ignores_the_session(party: Party, django_assert_num_queries: Any) -> None:
    body = urlencode({"grant_type": "refresh_token"})
    with django_assert_num_queries(0):
        response = party.browser.post("/oauth/token", body, content_type=FORM)
    assert_error(response, "invalid_request")

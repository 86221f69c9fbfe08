"""Every credential at every kind of operation, the bad ones first."""

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from developers.models import AccessToken, ApiKey
from developers.secrets import Prefix, new_secret
from marketplace.core.access import CredentialKind
from marketplace.core.scopes import format_scopes
from tests.callers import EVERYTHING

from .cases import token_of
from .conditions import app_suspended, hold

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.developers.probe")]


def call(operation: str, **headers: str) -> Any:
    return APIClient().get(f"/api/v1/{operation}", headers={name.replace("_", "-"): value for name, value in headers.items()})


def assert_problem(response: Any, status: int, code: str) -> None:
    assert (response.status_code, response.json().get("code")) == (status, code)
    assert response["Content-Type"] == "application/problem+json"
    assert ("WWW-Authenticate" in response) == (code in {"not_authenticated", "invalid_credential", "insufficient_scope"})


@pytest.fixture
def key(db: None) -> str:
    return hold(CredentialKind.API_KEY).secret


def test_response_to_a_credential_is_kept_out_of_every_cache(key: str) -> None:
    answers = [call("either", x_api_key=key), call("either", authorization=f"Bearer {token_of('personal')[1]}")]
    assert [(answer.status_code, "no-store" in answer["Cache-Control"]) for answer in answers] == [(200, True)] * 2


def test_malformed_or_mistyped_credential_is_401_and_none_is_anonymous_without_a_query(key: str, django_assert_num_queries: Any) -> None:
    typo = key[:-8] + ("A" if key[-8] != "A" else "B") + key[-7:]
    keys = ("", " ", "x", "cam_sk_", "cam_sk_" + "a" * 38, "cam_sk_" + "a" * 5000, "cam_pat_" + "0" * 38, "é" * 45, typo)
    spaced = "bearer  " + new_secret(Prefix.ACCESS_TOKEN)
    authorizations = (
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic dTpw",
        f"Token {token_of('personal')[1]}",
        "Bearer cam_at_" + "a" * 38,
        spaced,
    )
    with django_assert_num_queries(0):
        assert call("public").json() == {"user": None}
    for headers in [{"x_api_key": value} for value in keys] + [{"authorization": value} for value in authorizations]:
        with django_assert_num_queries(0):
            assert_problem(call("public", **headers), 401, "invalid_credential")


def test_secret_of_one_kind_in_the_header_of_the_other_is_401(key: str) -> None:
    assert_problem(call("either", authorization=f"Bearer {key}"), 401, "invalid_credential")
    assert_problem(call("either", x_api_key=token_of("personal")[1]), 401, "invalid_credential")
    assert_problem(call("either", authorization=f"Bearer {new_secret(Prefix.REFRESH_TOKEN)}"), 401, "invalid_credential")
    assert_problem(call("either", authorization=f"Bearer {hold(CredentialKind.CONSOLE).secret}"), 401, "invalid_credential")
    assert_problem(call("either", x_api_key=hold(CredentialKind.FIRST_PARTY).secret), 401, "invalid_credential")


def test_oauth_token_never_manages_a_store_whatever_it_says_and_is_not_told_to_ask_for_the_scope() -> None:
    token, secret = token_of("oauth")
    AccessToken.objects.filter(pk=token.pk).update(scope=format_scopes(EVERYTHING))
    response = call("vendor", authorization=f"Bearer {secret}")
    assert_problem(response, 403, "insufficient_scope")
    assert response.json()["detail"] == "No app can have vendor:manage. Use a personal token that has it."


@pytest.mark.parametrize("kind", [kind for kind in CredentialKind if kind != CredentialKind.MCP])
def test_credential_acts_as_its_user_and_its_app(kind: CredentialKind) -> None:
    held = hold(kind)
    body = call("either", **held.headers).json()
    assert (body["user"], body["app"], body["kind"]) == (str(held.user.pk), str(held.app.pk) if held.app else None, kind)


@pytest.mark.parametrize("kind", [CredentialKind.API_KEY, CredentialKind.OAUTH])
def test_credential_costs_one_query_and_its_use_is_written_every_five_minutes(kind: CredentialKind, django_assert_num_queries: Any) -> None:
    held = hold(kind)
    with django_assert_num_queries(2):
        call("either", **held.headers)
    credential: Any = type(held.row).objects.get(pk=held.row.pk)
    used = credential.last_used_at
    with django_assert_num_queries(1):
        call("either", **held.headers)
    credential.last_used_at = used - timedelta(minutes=5, seconds=1)
    credential.save()
    with django_assert_num_queries(2):
        call("either", **held.headers)
    credential.refresh_from_db()
    assert credential.last_used_at >= used


def test_refused_credential_is_not_marked_as_used() -> None:
    held = hold(CredentialKind.API_KEY)
    app_suspended(held)
    call("either", **held.headers)
    assert ApiKey.objects.get().last_used_at is None

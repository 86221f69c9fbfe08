"""Every credential at every kind of operation, the bad ones first."""

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from developers.models import AccessToken, ApiKey, App
from developers.secrets import Prefix, new_secret
from developers.services.apps import suspend_app
from developers.services.credentials import issue_api_key
from developers.services.scopes import narrow_scopes
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from tests.callers import EVERYTHING
from tests.factories import AppFactory, UserFactory

from .cases import token_of

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.developers.probe")]

OPERATIONS = ["public", "keyed", "either", "vendor", "spend"]
PROTECTED = OPERATIONS[1:]


def call(operation: str, **headers: str) -> Any:
    return APIClient().get(f"/api/v1/{operation}", headers={name.replace("_", "-"): value for name, value in headers.items()})


def assert_problem(response: Any, status: int, code: str) -> None:
    assert (response.status_code, response.json().get("code")) == (status, code)
    assert response["Content-Type"] == "application/problem+json"
    assert ("WWW-Authenticate" in response) == (code in {"not_authenticated", "invalid_credential", "insufficient_scope"})


@pytest.fixture
def key() -> tuple[ApiKey, str]:
    """A key with every scope that an app can have."""
    app = AppFactory()
    return issue_api_key(app=app, name="laptop", actor=app.user)


def test_anonymous_caller_gets_the_public_operation_without_a_query(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        response = call("public")
    assert response.json() == {"user": None}


@pytest.mark.parametrize("operation", PROTECTED)
def test_response_to_a_credential_is_kept_out_of_every_cache(operation: str, key: tuple[ApiKey, str]) -> None:
    answers = [call(operation, x_api_key=key[1]), call(operation, authorization=f"Bearer {token_of('personal')[1]}")]
    assert 200 in {answer.status_code for answer in answers}
    assert all("no-store" in answer["Cache-Control"] for answer in answers)


MALFORMED_KEYS = ["", " ", "x", "cam_sk_", "cam_sk_" + "a" * 38, "cam_sk_" + "a" * 5000, "cam_pat_" + "0" * 38, "é" * 45]


@pytest.mark.parametrize("secret", MALFORMED_KEYS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_malformed_key_is_401_without_a_query(secret: str, operation: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        response = call(operation, x_api_key=secret)
    assert_problem(response, 401, "invalid_credential")


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic dTpw",
        "Token abc",
        "Bearer cam_at_" + "a" * 38,
        # A name of its own: parallel workers must collect the same tests.
        pytest.param("bearer  " + new_secret(Prefix.ACCESS_TOKEN), id="two spaces"),
    ],
)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_malformed_authorization_is_401_without_a_query(authorization: str, operation: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        response = call(operation, authorization=authorization)
    assert_problem(response, 401, "invalid_credential")


def test_mistyped_key_is_401_without_a_query(key: tuple[ApiKey, str], django_assert_num_queries: Any) -> None:
    typo = key[1][:-8] + ("A" if key[1][-8] != "A" else "B") + key[1][-7:]
    with django_assert_num_queries(0):
        assert_problem(call("keyed", x_api_key=typo), 401, "invalid_credential")


def test_secret_of_one_kind_in_the_header_of_the_other_is_401(key: tuple[ApiKey, str]) -> None:
    assert_problem(call("either", authorization=f"Bearer {key[1]}"), 401, "invalid_credential")
    assert_problem(call("either", x_api_key=token_of("personal")[1]), 401, "invalid_credential")
    assert_problem(call("either", authorization=f"Bearer {new_secret(Prefix.REFRESH_TOKEN)}"), 401, "invalid_credential")


def _suspended(key: ApiKey) -> None:
    suspend_app(app=key.app, reason="Abuse", actor=UserFactory())


def test_narrowed_grant_is_403_at_the_very_next_request_of_keys_and_tokens(key: tuple[ApiKey, str]) -> None:
    token, secret = token_of("oauth")
    assert token.application is not None
    for app, headers in ((key[0].app, {"x_api_key": key[1]}), (token.application, {"authorization": f"Bearer {secret}"})):
        assert call("spend", **headers).status_code == 200
        narrow_scopes(app=app, withdrawn={Scope.WALLET_SPEND: "Misused"}, actor=UserFactory())
        assert_problem(call("spend", **headers), 403, "insufficient_scope")
        assert call("either", **headers).status_code == 200


def test_key_does_not_gain_scopes_that_its_app_is_granted_later() -> None:
    app = AppFactory(granted_scopes="catalog:read")
    _, old = issue_api_key(app=app, name="old", actor=app.user)
    App.objects.filter(pk=app.pk).update(granted_scopes="catalog:read account:read")
    assert_problem(call("either", x_api_key=old), 403, "insufficient_scope")
    _, new = issue_api_key(app=app, name="new", actor=app.user)
    assert call("either", x_api_key=new).status_code == 200


def test_oauth_token_never_manages_a_store_whatever_it_says() -> None:
    token, secret = token_of("oauth")
    AccessToken.objects.filter(pk=token.pk).update(scope=format_scopes(EVERYTHING))
    assert_problem(call("vendor", authorization=f"Bearer {secret}"), 403, "insufficient_scope")


def test_key_acts_as_its_owner(key: tuple[ApiKey, str]) -> None:
    body = call("keyed", x_api_key=key[1]).json()
    assert body == {
        "user": str(key[0].app.user_id),
        "app": str(key[0].app_id),
        "kind": "api_key",
        "scopes": sorted(APP_SCOPES),
    }


@pytest.mark.parametrize(
    ("kind", "operations"),
    [("personal", ["either", "vendor", "spend"]), ("oauth", ["either", "spend"])],
)
def test_token_acts_as_its_user(kind: str, operations: list[str]) -> None:
    token, secret = token_of(kind)
    for operation in ("public", *operations):
        body = call(operation, authorization=f"Bearer {secret}").json()
        assert (body["user"], body["kind"]) == (str(token.user_id), kind)


@pytest.mark.parametrize("kind", ["key", "personal", "oauth"])
def test_credential_costs_one_query_and_its_use_is_written_every_five_minutes(
    kind: str, key: tuple[ApiKey, str], django_assert_num_queries: Any
) -> None:
    credential, secret = key if kind == "key" else token_of(kind)
    headers = {"x_api_key": secret} if kind == "key" else {"authorization": f"Bearer {secret}"}
    with django_assert_num_queries(2):
        call("either", **headers)
    credential.refresh_from_db()
    used = credential.last_used_at
    assert used is not None
    with django_assert_num_queries(1):
        call("either", **headers)
    credential.refresh_from_db()
    assert credential.last_used_at == used
    type(credential)._base_manager.filter(pk=credential.pk).update(last_used_at=used - timedelta(minutes=5, seconds=1))
    with django_assert_num_queries(2):
        call("either", **headers)
    credential.refresh_from_db()
    assert credential.last_used_at is not None
    assert credential.last_used_at >= used


def test_refused_credential_is_not_marked_as_used(key: tuple[ApiKey, str]) -> None:
    _suspended(key[0])
    call("either", x_api_key=key[1])
    key[0].refresh_from_db()
    assert key[0].last_used_at is None

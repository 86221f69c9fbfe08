"""Who may call: each operation with each wrong credential, and with none."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from developers.models import AccessToken
from developers.secrets import Prefix, digest_of, new_secret
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from tests.factories import AppFactory

from .calls import call, credentials_of, refused, rows
from .scenes import Scene
from .shapes import Auth, Operation
from .table import GUARDED, OPERATIONS

pytestmark = pytest.mark.django_db

by_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
by_guarded = pytest.mark.parametrize("operation", GUARDED, ids=lambda operation: operation.name)
GARBAGE: tuple[dict[str, Any], ...] = (
    {"HTTP_X_API_KEY": "nonsense"},
    {"HTTP_X_API_KEY": ""},
    {"HTTP_AUTHORIZATION": "Bearer nonsense"},
    {"HTTP_AUTHORIZATION": "Basic bm9ib2R5Om5vdGhpbmc="},
    {"HTTP_AUTHORIZATION": "Bearer"},
)


@by_operation
def test_garbage_is_refused_where_no_credential_is_needed_too(operation: Operation, scene: Scene) -> None:
    before = rows()
    secrets: tuple[dict[str, Any], ...] = (
        {"HTTP_X_API_KEY": new_secret(Prefix.API_KEY)},
        {"HTTP_AUTHORIZATION": f"Bearer {new_secret(Prefix.PERSONAL_TOKEN)}"},
    )
    for credential in (*GARBAGE, *secrets):
        answer = call(APIClient(), operation, scene, **credential)
        refused(answer, 401, "invalid_credential", operation)
        assert "Bearer" in answer["WWW-Authenticate"]
    assert rows() == before


@by_operation
def test_key_and_token_together_are_ambiguous(
    operation: Operation, scene: Scene, bearer_client: Callable[..., APIClient], key_client: Callable[..., APIClient]
) -> None:
    both = credentials_of(key_client(scene.user)) | credentials_of(bearer_client(scene.user))
    before = rows()
    refused(call(APIClient(), operation, scene, **both), 400, "ambiguous_credentials", operation)
    assert rows() == before


@by_operation
def test_token_of_the_tool_protocol_is_refused(operation: Operation, scene: Scene) -> None:
    secret = new_secret(Prefix.MCP_TOKEN)
    AccessToken.objects.create(
        user=scene.user,
        application=AppFactory(),
        kind="mcp",
        token_checksum=digest_of(secret),
        scope=format_scopes(APP_SCOPES),
        expires=timezone.now() + timedelta(hours=1),
    )
    before = rows()
    refused(call(APIClient(), operation, scene, HTTP_AUTHORIZATION=f"Bearer {secret}"), 401, "invalid_credential", operation)
    assert rows() == before


@by_guarded
def test_anonymous_is_refused(operation: Operation, scene: Scene) -> None:
    before = rows()
    answer = call(APIClient(), operation, scene)
    refused(answer, 401, "not_authenticated", operation)
    assert ("ApiKey" if operation.auth == Auth.KEY else "Bearer") in answer["WWW-Authenticate"]
    assert rows() == before


@by_guarded
def test_every_scope_but_the_right_one_is_not_enough(
    operation: Operation, scene: Scene, bearer_client: Callable[..., APIClient], key_client: Callable[..., APIClient]
) -> None:
    others = frozenset(Scope) - {Scope(operation.scope or "")}
    callers = []
    if operation.auth.bearer:
        callers.append(bearer_client(scene.user, scopes=others))
    if operation.auth.key:
        callers.append(key_client(scene.user, scopes=others & APP_SCOPES))
    before = rows()
    for caller in callers:
        problem = refused(call(caller, operation, scene), 403, "insufficient_scope", operation)
        assert problem["requiredScope"] == operation.scope
    assert rows() == before


@pytest.mark.parametrize("operation", [entry for entry in GUARDED if not entry.auth.key], ids=lambda operation: operation.name)
def test_key_is_refused_where_a_token_is_needed(operation: Operation, scene: Scene, key_client: Callable[..., APIClient]) -> None:
    caller = key_client(scene.user)
    before = rows()
    refused(call(caller, operation, scene), 401, "invalid_credential", operation)
    assert rows() == before


@pytest.mark.parametrize("operation", [entry for entry in GUARDED if not entry.auth.bearer], ids=lambda operation: operation.name)
def test_token_is_refused_where_a_key_is_needed(operation: Operation, scene: Scene, bearer_client: Callable[..., APIClient]) -> None:
    refused(call(bearer_client(scene.user), operation, scene), 401, "invalid_credential", operation)


@pytest.mark.parametrize(
    "operation", [entry for entry in GUARDED if "vendor_not_approved" in entry.refusals], ids=lambda operation: operation.name
)
def test_user_who_is_no_vendor_is_refused(operation: Operation, scene: Scene, bearer_client: Callable[..., APIClient]) -> None:
    caller = bearer_client()
    before = rows()
    problem = refused(call(caller, operation, scene), 403, "vendor_not_approved", operation)
    assert problem["vendorStatus"] is None
    assert rows() == before


def test_someone_without_a_profile_has_no_application_status(bearer_client: Any) -> None:
    refused(bearer_client().get("/api/v1/vendor/application-status"), 404, "vendor_profile_missing")

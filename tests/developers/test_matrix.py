"""Every operation of the API with every kind of credential, judged by the operation's declared access alone.

The operations come from the addresses of the service: a new endpoint is in the table the moment it has one. What is asserted is
the gate: which refusal there is, or that there is none of the gate's. Why a credential is dead is no operation's business: most
conditions are tried at one operation of each declared access.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.urls import get_resolver
from rest_framework.test import APIClient

from developers.checks import api_views
from developers.services.credentials import issue_api_key
from developers.services.first_party import PAGE_SCOPES
from marketplace.api.views import ApiViewSet
from marketplace.core.access import Access, CredentialKind
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from tests.architecture.source import patterns
from tests.contract.calls import refused
from tests.factories import AppFactory
from tests.http.test_pages_of_the_middleware import address_of

from .conditions import CASES, DEAD, SCOPED, Held, hold, nothing, own_scopes_gone, revoked

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

Refusal = tuple[int, str] | None
GATE = {"not_authenticated", "invalid_credential", "ambiguous_credentials", "insufficient_scope"}
ANONYMOUS: Refusal = (401, "not_authenticated")
INVALID: Refusal = (401, "invalid_credential")
AMBIGUOUS: Refusal = (400, "ambiguous_credentials")
LACKING: Refusal = (403, "insufficient_scope")


class Operation(NamedTuple):
    """One method at one address."""

    name: str
    method: str
    path: str
    access: Access


def operations() -> list[Operation]:
    found = []
    for route, pattern in patterns(get_resolver()):
        view: Any = getattr(pattern.callback, "cls", None)
        if isinstance(view, type) and issubclass(view, ApiViewSet):
            # ViewSetMixin.as_view leaves the map of methods to actions on the view.
            actions: dict[str, str] = getattr(pattern.callback, "actions", {})
            found += [
                Operation(f"{method} {pattern.name}", method, address_of(route), view.access[action])
                for method, action in actions.items()
                if method != "head"
            ]
    return found


OPERATIONS = operations()
ONE_OF_EACH_ACCESS = list({operation.access: operation for operation in OPERATIONS}.values())
TRIED_EVERYWHERE = {nothing, own_scopes_gone, revoked}
CARRIES = dict.fromkeys(CredentialKind, APP_SCOPES) | {CredentialKind.PERSONAL: frozenset(Scope), CredentialKind.FIRST_PARTY: PAGE_SCOPES}


def expected(access: Access, kind: CredentialKind, condition: Callable[[Held], None]) -> Refusal:
    """Return the gate's refusal, written from the rules of access alone, not from the code."""
    # An MCP token is good for tools only, a dead credential for nothing: at public operations too.
    if condition in DEAD or kind == CredentialKind.MCP:
        return INVALID
    if not access.kinds:
        return None
    if kind not in access.kinds:
        return INVALID
    if access.scope is None:
        return None
    return None if SCOPED[condition] and access.scope in CARRIES[kind] else LACKING


def answers(headers: dict[str, str], tried: list[Operation]) -> dict[str, Refusal]:
    """Return what the gate says to each operation; None where it lets the call through, whatever happens behind it."""
    client = APIClient(headers=headers)
    found: dict[str, Refusal] = {}
    for operation in tried:
        response = client.generic(operation.method.upper(), operation.path, "{}", content_type="application/json")
        problem = response.json() if response.headers["Content-Type"] == "application/problem+json" else {}
        code = problem.get("code", "")
        assert response.status_code < 500, (operation, code)
        if code in GATE:
            refused(response, response.status_code, code)
            assert problem.get("requiredScope") == (operation.access.scope if code == "insufficient_scope" else None)
        challenged = response.status_code == 401 or code == "insufficient_scope"
        assert ("WWW-Authenticate" in response) == challenged, operation
        found[operation.name] = (response.status_code, code) if code in GATE else None
    return found


def test_access_table_has_every_operation_of_the_api() -> None:
    # DRF adds HEAD to a view when it is first called.
    declared = sum(len(actions.keys() - {"head"}) for _, actions in api_views())
    assert len(OPERATIONS) == len({operation.name for operation in OPERATIONS}) == declared > 20
    assert {operation.access.scope for operation in OPERATIONS} == {None, *Scope}


def test_anonymous_caller_gets_the_public_operations_only() -> None:
    assert answers({}, OPERATIONS) == {operation.name: ANONYMOUS if operation.access.kinds else None for operation in OPERATIONS}


@pytest.mark.parametrize(("kind", "condition"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_access_is_as_declared(kind: CredentialKind, condition: Callable[[Held], None]) -> None:
    held = hold(kind)
    condition(held)
    tried = OPERATIONS if condition in TRIED_EVERYWHERE else ONE_OF_EACH_ACCESS
    assert answers(held.headers, tried) == {operation.name: expected(operation.access, kind, condition) for operation in tried}


@pytest.mark.parametrize("scope", sorted(APP_SCOPES))
def test_key_with_one_scope_may_call_only_operations_of_that_scope(scope: Scope) -> None:
    app = AppFactory(granted_scopes=format_scopes({scope}))
    _, secret = issue_api_key(app=app, name="matrix", actor=app.user)
    refusals = answers({"x-api-key": secret}, ONE_OF_EACH_ACCESS)
    for name, _, _, access in ONE_OF_EACH_ACCESS:
        refusal = refusals[name]
        if not access.kinds or (access.scope in {None, scope} and CredentialKind.API_KEY in access.kinds):
            assert refusal is None, name
        else:
            assert refusal == (LACKING if CredentialKind.API_KEY in access.kinds else INVALID), name


def test_two_credentials_are_refused_even_empty_ones() -> None:
    both = hold(CredentialKind.API_KEY).headers | hold(CredentialKind.PERSONAL).headers
    for headers in (both, dict.fromkeys(both, "")):
        assert set(answers(headers, OPERATIONS).values()) == {AMBIGUOUS}

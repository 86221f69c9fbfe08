"""Every tool and resource with every credential in every condition, judged by its declared scope alone."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import resolve

from developers.models import App
from developers.services.apps import suspend_app
from developers.services.credentials import revoke_token
from developers.services.scopes import narrow_scopes
from marketplace.core.access import CredentialKind
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from marketplace.mcp.resources import RESOURCES
from marketplace.mcp.tools.calling import TOOLS
from tests.developers.conditions import CASES, DEAD, SCOPED, Held, hold, nothing
from tests.factories import UserFactory

from .speaking import Speaker, mcp_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

METADATA = 'resource_metadata="http://testserver/.well-known/oauth-protected-resource/mcp"'
ALL = f'scope="{format_scopes(APP_SCOPES)}"'
Refusal = tuple[int, str] | None
ARGUMENTS = {"assetId": "no-such-asset", "q": "words", "idempotencyKey": "one", "amount": 100, "currency": "INR", "use": "client_work"}


def arguments_of(tool: str) -> dict[str, Any]:
    return {name: ARGUMENTS[name] for name in TOOLS[tool].input_schema.get("required", ())}


CALLS: dict[str, tuple[Scope | None, str, dict[str, Any]]] = {
    **{f"tool {name}": (tool.scope, "tools/call", {"name": name, "arguments": arguments_of(name)}) for name, tool in TOOLS.items()},
    **{f"resource {name}": (each.scope, "resources/read", {"uri": each.uri("no-such-asset")}) for name, each in RESOURCES.items()},
    **{method: (None, method, {}) for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list")},
    "discover": (None, "server/discover", {}),
    "prompt": (None, "prompts/get", {"name": "choose_asset", "arguments": {"purpose": "a poster"}}),
}


def answers(**headers: str | None) -> dict[str, Refusal]:
    """Return what the gate says to each call; None where it lets the call through, whatever happens behind it."""
    speaker = Speaker()
    found: dict[str, Refusal] = {}
    for name, (scope, method, params) in CALLS.items():
        response = speaker.send(method, params, message_id=name, **headers)
        body = json.loads(response.content)
        assert body["jsonrpc"] == "2.0"
        if response.status_code not in {401, 403}:
            found[name] = None
            assert "WWW-Authenticate" not in response
            continue
        code = body["error"]["data"]["code"]
        if code == "insufficient_scope":
            assert body["id"] == name
            assert response["WWW-Authenticate"] == f'Bearer realm="marketplace", error="insufficient_scope", scope="{scope}", {METADATA}'
            assert body["error"]["data"]["requiredScope"] == scope
        else:
            assert response["WWW-Authenticate"] == f'Bearer realm="marketplace", error="invalid_token", {ALL}, {METADATA}'
        assert response["Cache-Control"] == "no-store"
        found[name] = (response.status_code, code)
    return found


def expected(held: Held, condition: Callable[[Held], None], scope: Scope | None) -> Refusal:
    """Return the gate's refusal, written from the rules of access alone, not from the code."""
    if condition in DEAD or held.kind != CredentialKind.MCP:
        return 401, "invalid_credential"
    return None if scope is None or SCOPED[condition] else (403, "insufficient_scope")


def headers_of(held: Held) -> dict[str, str | None]:
    return {name.replace("-", "_"): value for name, value in held.headers.items()}


TWINS = {
    "list_categories": ("get", "/categories"),
    "list_assets": ("get", "/assets"),
    "search_assets": ("get", "/assets/search"),
    "get_asset": ("get", "/assets/x"),
    "check_rights": ("get", "/assets/x/rights"),
    "get_asset_manifest": ("get", "/assets/x/manifest"),
    "list_library": ("get", "/library"),
    "get_download_link": ("post", "/library/download/x"),
    "who_am_i": ("get", "/me"),
    "get_wallet": ("get", "/wallet"),
    "quote_purchase": ("post", "/wallet/quote"),
    "buy_asset": ("post", "/wallet/spend"),
    "request_top_up": ("post", "/wallet/top-ups"),
}


def test_tool_has_the_scope_of_the_same_operation_of_the_api() -> None:
    assert {name: tool.scope for name, tool in TOOLS.items()} == {name: _scope_of(*twin) for name, twin in TWINS.items()}


def _scope_of(method: str, path: str) -> Scope | None:
    view: Any = resolve(f"/api/v1{path}").func
    scope: Scope | None = view.cls.access[view.actions[method]].scope
    return scope


def test_every_scope_of_apps_but_none_of_users_guards_a_tool() -> None:
    assert {tool.scope for tool in TOOLS.values()} == {None, *APP_SCOPES}


# Of what is no MCP token the gate asks nothing but whether it is good: the rest is in the matrix of the API.
@pytest.mark.parametrize(
    ("kind", "condition"),
    [(kind, condition) for kind, condition in CASES if kind == CredentialKind.MCP or condition is nothing],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_access_is_as_declared(kind: CredentialKind, condition: Callable[[Held], None]) -> None:
    held = hold(kind)
    condition(held)
    assert answers(**headers_of(held)) == {name: expected(held, condition, scope) for name, (scope, *_) in CALLS.items()}


def test_two_credentials_are_refused() -> None:
    response = Speaker().send("tools/list", None, **headers_of(hold(CredentialKind.API_KEY)) | headers_of(hold(CredentialKind.MCP)))
    assert (response.status_code, json.loads(response.content)["error"]["data"]["code"]) == (400, "ambiguous_credentials")


@pytest.mark.parametrize("authorization", ["", "Basic dXNlcjpwYXNz", "Bearer cam_mcp_typo", "Bearer \x00"])
def test_malformed_authorization_header_is_a_401(authorization: str) -> None:
    response = Speaker().send("tools/list", authorization=authorization)
    assert (response.status_code, json.loads(response.content)["error"]["data"]["code"]) == (401, "invalid_credential")


@pytest.mark.parametrize("scope", sorted(APP_SCOPES))
def test_mcp_token_with_one_scope_lists_and_calls_only_tools_of_that_scope(scope: Scope) -> None:
    _, secret, _ = mcp_token(scopes=frozenset({scope}))
    mine = {None, scope}
    assert Speaker(secret).tools() == [name for name, tool in TOOLS.items() if tool.scope in mine]
    templates = Speaker(secret).result("resources/templates/list")["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == [each.uri("{slug}") for each in RESOURCES.values() if each.scope in mine]
    found = answers(authorization=f"Bearer {secret}")
    assert found == {name: None if wanted in mine else (403, "insufficient_scope") for name, (wanted, *_) in CALLS.items()}


def test_narrowing_suspension_and_revocation_act_on_the_next_call() -> None:
    token, secret, app = mcp_token()
    speaker, reviewer = Speaker(secret), UserFactory(is_staff=True)
    wallet = {"name": "get_wallet", "arguments": {}}
    assert speaker.send("tools/call", wallet).status_code == 200
    narrow_scopes(app=app, scopes={Scope.ACCOUNT_READ}, reason="not needed", actor=reviewer)
    assert "get_wallet" not in speaker.tools()
    assert speaker.send("tools/call", wallet).status_code == 403
    App.objects.filter(pk=app.pk).update(granted_scopes=format_scopes(APP_SCOPES))
    assert speaker.send("tools/call", wallet).status_code == 200
    suspend_app(app=App.objects.get(pk=app.pk), reason="test", actor=reviewer)
    assert speaker.send("tools/list").status_code == 401
    App.objects.filter(pk=app.pk).update(status="Approved")
    assert speaker.send("tools/list").status_code == 200
    revoke_token(token=token, actor=app.user)
    assert speaker.send("tools/list").status_code == 401


def test_scopes_granted_later_are_not_added_to_existing_mcp_tokens() -> None:
    _, secret, app = mcp_token(scopes=frozenset({Scope.CATALOG_READ}))
    App.objects.filter(pk=app.pk).update(granted_scopes=format_scopes(APP_SCOPES))
    tools = Speaker(secret).tools()
    assert "list_assets" in tools
    assert "buy_asset" not in tools

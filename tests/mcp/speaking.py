"""A minimal client of the protocol, for tests of its messages."""

import json
from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from developers.models import AccessToken, App
from developers.services.credentials import issue_mcp_token
from marketplace.accounts.models import User
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from tests.factories import AppFactory, UserFactory

NEWEST = "2026-07-28"
WITH_HANDSHAKE = ("2025-11-25", "2025-06-18")
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ACCEPT = "application/json, text/event-stream"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def mcp_token(user: User | None = None, scopes: frozenset[Scope] = APP_SCOPES) -> tuple[AccessToken, str, App]:
    """Make an MCP token under an app of the user's with these scopes."""
    app: App = AppFactory(user=user or UserFactory(), granted_scopes=format_scopes(scopes))
    ends = timezone.now() + timedelta(days=1)
    token, secret = issue_mcp_token(app=app, name="test", expires_at=ends, actor=app.developer, password_confirmed=True)
    return token, secret, app


class Speaker:
    """Speaks one revision with one token."""

    def __init__(self, secret: str | None = None, revision: str = NEWEST) -> None:
        self.client = Client(raise_request_exception=False)
        self.secret, self.revision = secret, revision

    def post(self, body: bytes | str, **headers: str | None) -> HttpResponse:
        """Send bytes; a header that is None is left out."""
        usual = {
            "accept": ACCEPT,
            "authorization": f"Bearer {self.secret}" if self.secret else None,
            "mcp-protocol-version": self.revision,
        }
        merged = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        content_type = merged.pop("content-type", "application/json") or ""
        given = {name: value for name, value in merged.items() if value is not None}
        return self.client.post("/mcp", body, content_type=content_type, headers=given)  # type: ignore[return-value]

    def send(self, method: str, params: dict[str, Any] | None = None, *, message_id: Any = 1, **headers: str | None) -> HttpResponse:
        """Send a request as a client of the revision would."""
        params = dict(params or {})
        if self.revision == NEWEST:
            params["_meta"] = {VERSION: NEWEST, CAPABILITIES: {}} | params.get("_meta", {})
            named = params.get(NAMED_BY.get(method, ""))
            headers = {"mcp_method": method, "mcp_name": named if isinstance(named, str) else None} | headers
        body = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
        return self.post(json.dumps(body), **headers)

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the result of a request that succeeds."""
        response = self.send(method, params)
        assert response.status_code == 200, response.content
        answer: dict[str, Any] = json.loads(response.content)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.result("tools/list")["tools"]]

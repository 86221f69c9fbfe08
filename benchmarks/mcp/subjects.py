"""The pairs that are compared: a tool call, and the equivalent request to the API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

REVISION = "2026-07-28"
_META = {"io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": {}}


@dataclass(frozen=True)
class Call:
    """One HTTP request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Pair:
    """A tool and its twin.

    Args:
        tool: The tool.
        arguments: Its arguments.
        method: Of the twin.
        path: Of the twin.
        renew: The argument that differs in each call, so that no response is cached; empty if all calls are equal.
    """

    tool: str
    arguments: Mapping[str, Any]
    method: str
    path: str
    renew: str = ""
    note: str = field(default="")

    @property
    def name(self) -> str:
        """Its name in the table."""
        return f"{self.tool}{f', {self.note}' if self.note else ''}"

    def by_tool(self, token: str, number: int) -> Call:
        """Return the call of the tool."""
        params = {"name": self.tool, "arguments": self._given(number), "_meta": _META}
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": self.tool,
        }
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return Call("POST", "/mcp", headers, json.dumps(message).encode())

    def by_twin(self, credential: Mapping[str, str], number: int) -> Call:
        """Return the request to the API."""
        given = self._given(number)
        path = self.path.format(**given)
        query = {name: value for name, value in given.items() if f"{{{name}}}" not in self.path}
        if self.method == "POST" and "download" not in self.path:
            return Call("POST", path, {**credential, "Content-Type": "application/json"}, json.dumps(given).encode())
        return Call(self.method, f"{path}?{urlencode(query)}" if query else path, credential)

    def _given(self, number: int) -> dict[str, Any]:
        return {**self.arguments, self.renew: f"{self.arguments[self.renew]}{number}"} if self.renew else dict(self.arguments)


def pairs(slug: str, owned: str) -> list[Pair]:
    """Return the pairs: public reads by callers with a credential, cached and built anew, and everything of the user's own."""
    return [
        Pair("list_categories", {}, "GET", "/api/v1/categories", note="ready"),
        Pair("list_assets", {"sort": "newest", "limit": 20}, "GET", "/api/v1/assets", note="ready"),
        Pair("list_assets", {"tag": "x", "limit": 20}, "GET", "/api/v1/assets", renew="tag", note="built"),
        Pair("search_assets", {"q": "font", "limit": 20}, "GET", "/api/v1/assets/search", note="ready"),
        Pair("search_assets", {"q": "font ", "limit": 20}, "GET", "/api/v1/assets/search", renew="q", note="built"),
        Pair("get_asset", {"assetId": slug}, "GET", "/api/v1/assets/{assetId}", note="ready"),
        Pair("get_asset_manifest", {"assetId": slug}, "GET", "/api/v1/assets/{assetId}/manifest", note="ready"),
        Pair("list_library", {"limit": 25}, "GET", "/api/v1/library"),
        Pair("get_download_link", {"assetId": owned}, "POST", "/api/v1/library/download/{assetId}"),
        Pair("get_wallet", {}, "GET", "/api/v1/wallet"),
    ]

"""Determines the protocol revision of a request, and checks that its headers match its body.

The newest one repeats on each request what older ones negotiate by `initialize`. The server stores neither.
"""

import base64
import re
from typing import Any

from django.http import HttpRequest
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)

from .messages import Message
from .responses import ProtocolError

WITHOUT_HANDSHAKE = ("2026-07-28",)
WITH_HANDSHAKE = ("2025-11-25", "2025-06-18")
SUPPORTED = (*WITHOUT_HANDSHAKE, *WITH_HANDSHAKE)

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
# The parameter that a method's name header repeats.
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ENCODED = re.compile(r"=\?base64\?(?P<payload>.*)\?=")


def revision_of(request: HttpRequest, message: Message) -> str:
    """Return the revision of a message.

    Raises:
        ProtocolError: it is not supported, or headers and body contradict each other.
    """
    header, claimed = request.headers.get(VERSION_HEADER), _claimed(message)
    if header in WITH_HANDSHAKE and claimed in (None, header):
        return negotiate_revision(message.params.get("protocolVersion")) if message.method == "initialize" else header
    if claimed is None:
        if header is not None and header not in SUPPORTED:
            raise _unsupported(header)
        if message.id is None:
            # The newest revision has no notifications and no rules for their headers.
            return header or WITH_HANDSHAKE[0]
        if header is None and message.method == "initialize":
            return negotiate_revision(message.params.get("protocolVersion"))
        if header is None:
            raise ProtocolError(HEADER_MISMATCH, f"The header {VERSION_HEADER} is missing.")
    _refuse_incomplete(message)
    _refuse_contradiction(request, message)
    if claimed not in WITHOUT_HANDSHAKE:
        raise _unsupported(claimed)
    return str(claimed)


def negotiate_revision(offered: Any) -> str:
    """Return the revision for `initialize`: the one that the client offers, or else the newest that has `initialize`."""
    return offered if offered in WITH_HANDSHAKE else WITH_HANDSHAKE[0]


def _claimed(message: Message) -> Any:
    meta = message.params.get("_meta")
    return meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None


def _refuse_incomplete(message: Message) -> None:
    meta = message.params.get("_meta")
    types: dict[str, type] = {PROTOCOL_VERSION_META_KEY: str, CLIENT_CAPABILITIES_META_KEY: dict}
    bad = [key for key, wanted in types.items() if not isinstance(meta, dict) or not isinstance(meta.get(key), wanted)]
    if bad:
        raise ProtocolError(INVALID_PARAMS, f"params._meta lacks {' and '.join(bad)}.", data={"missing": bad})


def _refuse_contradiction(request: HttpRequest, message: Message) -> None:
    expected: dict[str, Any] = {VERSION_HEADER: _claimed(message), METHOD_HEADER: message.method}
    if message.method in _NAMED_BY:
        expected[NAME_HEADER] = message.params.get(_NAMED_BY[message.method])
    for name, value in expected.items():
        given = request.headers.get(name)
        if given is None:
            raise ProtocolError(HEADER_MISMATCH, f"The header {name} is missing.")
        if (_decoded(given) if name == NAME_HEADER else given) != value:
            raise ProtocolError(HEADER_MISMATCH, f"The header {name} doesn't match the body.")


def _decoded(value: str) -> str | None:
    """Return the text of a header that may be in Base64, None when it is badly encoded."""
    match = _ENCODED.fullmatch(value)
    if match is None:
        return value
    payload = match["payload"]
    try:
        decoded = base64.b64decode(payload, validate=True)
        # Only the canonical encoding: others could bypass a proxy that filters by the header.
        return decoded.decode() if base64.b64encode(decoded).decode() == payload else None
    except ValueError:
        return None


def _unsupported(requested: Any) -> ProtocolError:
    data = {"supported": list(SUPPORTED), "requested": requested}
    return ProtocolError(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data=data)

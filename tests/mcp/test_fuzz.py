"""Malformed messages: never a crash, always an answer in form. `MALFORMED_MESSAGES` asks for more of them."""

import copy
import json
import logging
import os
from collections import Counter
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from marketplace.mcp.methods import METHODS
from marketplace.mcp.tools.calling import TOOLS
from tests.shop import archive, bought, funded, on_sale

from .speaking import CAPABILITIES, NAMED_BY, NEWEST, VERSION, WITH_HANDSHAKE, Speaker, mcp_token

pytestmark = pytest.mark.full

MESSAGES = int(os.environ.get("MALFORMED_MESSAGES", "1500"))
STATUSES = {200, 202, 400, 401, 403, 404, 405, 406, 413, 415}
HEADERS = ["mcp_protocol_version", "mcp_method", "mcp_name", "accept", "content_type", "origin", "mcp_session_id", "last_event_id"]
HEADER_VALUES = [
    *(None, "", " ", "x", NEWEST, *WITH_HANDSHAKE, "1999-01-01", "tools/call", "tools/list", "get_wallet", "a, b", "\xff", "x" * 5000),
    *("=?base64?!!?=", "=?base64?/w==?="),
]
JUNK = [
    *(b"\x00", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b'"', b"{", b"}", b"[", b"]", b",", b":", b"-", b"//", b"\xef\xbb\xbf"),
    *(b"\\u0000", b"\\ud800", b"1e9999"),
]
HOSTILE: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, False, 0, -1, 1.5, 1e308, 2**63, -(2**63), 2**64, 10**40, "x" * 70_000, "=?base64?AA==?=", "__proto__", "\x00"),
        *([], {}, [[]], {"": ""}, {"__proto__": {}}, {"$ref": "#"}, [None] * 50, ["x"] * 1000, {"a": {"b": {"c": {}}}}),
    ]
).map(copy.deepcopy) | st.text(max_size=20)
GIVEN: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}},
    "resources/read": {"uri": "asset://harbor-grotesk/readme"},
    "prompts/get": {"name": "choose_asset", "arguments": {"purpose": "a poster", "budget": "20"}},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "choose_asset"}, "argument": {"name": "currency", "value": "I"}},
}
ARGUMENTS = {
    "assetId": "harbor-grotesk",
    "q": "harbor",
    "idempotencyKey": "one",
    "limit": 5,
    "sort": "newest",
    "cursor": "bm8",
    "minPrice": 1,
}
GOOD: list[dict[str, Any]] = [{"method": method, "params": GIVEN.get(method, {})} for method in METHODS if method != "tools/call"] + [
    {
        "method": "tools/call",
        "params": {"name": name, "arguments": {field: ARGUMENTS[field] for field in tool.input_schema["properties"] if field in ARGUMENTS}},
    }
    for name, tool in TOOLS.items()
]


@st.composite
def malformed(draw: st.DrawFn) -> tuple[bytes, dict[str, str | None]]:
    """Draw a body and headers, as no client would send them: spoilt in their JSON, in a header, or in the bytes."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, **copy.deepcopy(draw(st.sampled_from(GOOD)))}
    revision = draw(st.sampled_from([NEWEST, NEWEST, *WITH_HANDSHAKE]))
    headers: dict[str, str | None] = {"mcp_protocol_version": revision}
    if revision == NEWEST:
        message["params"]["_meta"] = {VERSION: revision, CAPABILITIES: {}}
        headers |= {"mcp_method": message["method"], "mcp_name": message["params"].get(NAMED_BY.get(message["method"], ""))}
    spoilt = draw(st.sampled_from(["JSON", "JSON", "header", "bytes"]))
    if spoilt == "bytes":
        return garbled(draw, json.dumps(message).encode()), headers
    if spoilt == "header":
        headers[draw(st.sampled_from(HEADERS))] = draw(st.sampled_from(HEADER_VALUES))
    for _ in range(draw(st.integers(1, 3))):
        spoil(draw, message)
    return text_of(draw, message).encode(), headers


def spoil(draw: st.DrawFn, holder: Any) -> None:
    """Replace, drop, rename or add something, here or deeper."""
    if not holder:
        return
    key = draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
    if isinstance(holder[key], dict | list) and holder[key] and draw(st.integers(0, 2)):
        spoil(draw, holder[key])
        return
    match draw(st.integers(0, 3)):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[draw(st.text(max_size=20))] = draw(HOSTILE)
        case 2 if isinstance(holder, dict):
            holder[f"{key}x"] = holder.pop(key)
        case _:
            holder[key] = draw(HOSTILE)


def text_of(draw: st.DrawFn, message: dict[str, Any]) -> str:
    """Return the message as JSON, one in ten with a name that comes twice, as a batch, or deeply nested."""
    text = json.dumps(message)
    match draw(st.integers(0, 29)):
        case 0:
            name = draw(st.sampled_from(["id", "method", "params", "jsonrpc"]))
            return f'{text[:-1]}, "{name}": {json.dumps(draw(HOSTILE))}}}'
        case 1:
            return f"[{text}, {text}]"
        case 2:
            depth = draw(st.sampled_from([10, 100, 5_000]))
            return f'{text[:-1]}, "deep": {"[" * depth}{"]" * depth}}}'
    return text


def garbled(draw: st.DrawFn, body: bytes) -> bytes:
    at = draw(st.integers(0, len(body) - 1))
    return draw(st.sampled_from([body[:at], *(body[:at] + junk + body[at:] for junk in JUNK)]) | st.binary(min_size=1, max_size=200))


def outcome_of(response: Any) -> str:
    """Return how a message was answered; the answer must be one of the protocol's."""
    assert response.status_code in STATUSES
    if response.status_code == 202:
        assert response.content == b""
        return "202"
    answer = json.loads(response.content)
    assert response["Content-Type"] == "application/json"
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] is None or type(answer["id"]) in {int, str}
    if "result" in answer:
        assert (response.status_code, answer.keys()) == (200, {"jsonrpc", "id", "result"})
        return "refused by a tool" if answer["result"].get("isError") else "result"
    error = answer["error"]
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert type(error["code"]) is int
    assert error["code"] not in {-32603, 500}, answer
    assert 0 < len(error["message"]) < 1_000
    assert len(response.content) < 100_000
    return f"{response.status_code} {error['code']}"


@pytest.mark.django_db
def test_malformed_messages_never_crash_and_are_answered_in_form(unlimited: None, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "django.request")
    buyer, seen = funded(inr=100_000_000), Counter[str]()
    bought(on_sale(archive(), slug="harbor-grotesk"), buyer)
    speaker = Speaker(mcp_token(buyer)[1])

    @hypothesis.seed(1)
    @hypothesis.settings(max_examples=MESSAGES, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(malformed())
    def send(message: tuple[bytes, dict[str, str | None]]) -> None:
        body, headers = message
        seen[outcome_of(speaker.post(body, **headers))] += 1

    send()
    refusals = {"400 -32700", "400 -32600", "400 -32602", "400 -32020", "200 -32602", "200 -32601"}
    assert {"202", "refused by a tool", *refusals} <= set(seen)

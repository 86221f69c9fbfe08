"""Malformed messages without end: good ones, spoilt by the dice in their bytes, their JSON or their headers.

    uv run --group dev python -m tests.mcp.fuzzing --messages 1000000 --seed 7

The suite sends 10,000 of a fixed seed, and fewer to its second engine; this command sends as many as you like to an empty database of its own.
"""

import argparse
import copy
import json
import logging
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import django
from django.conf import settings
from django.test.utils import setup_databases, setup_test_environment, teardown_databases

HOSTILE: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e308, 2**63, -(2**63), 2**64, 10**40, "", " ", "\x00", "a\x00b", "\n", "\u202e", "\U0001f600", "x" * 300, "x" * 70_000,
    "../../etc/passwd", "' OR 1=1 --", "{{7*7}}", "%s%n", "__proto__", "=?base64?AA==?=", [], {}, [[]], {"": ""}, {"__proto__": {}}, {"$ref": "#"},
    [None] * 50, {"a": {"b": {"c": {}}}}, ["x"] * 1000,
]  # fmt: skip
HEADER_VALUES = [
    None,
    "",
    " ",
    "x",
    "2026-07-28",
    "2025-06-18",
    "1999-01-01",
    "tools/call",
    "tools/list",
    "get_wallet",
    "=?base64?!!?=",
    "=?base64?/w==?=",
    "a, b",
    "\xff",
    "x" * 5000,
]
HEADERS = ["mcp_protocol_version", "mcp_method", "mcp_name", "accept", "content_type", "origin", "mcp_session_id", "last_event_id"]
JUNK = [
    b"\x00",
    b"\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\u0000",
    b"\\ud800",
    b"1e9999",
    b"-",
    b"//",
    b"\xef\xbb\xbf",
]


def good_messages() -> list[dict[str, Any]]:
    """Return a message for each method and tool."""
    from marketplace.mcp.methods import METHODS  # noqa: PLC0415 - models load only once Django is set up
    from marketplace.mcp.tools.calling import TOOLS  # noqa: PLC0415 - as above

    given = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}},
        "resources/read": {"uri": "asset://harbor-grotesk/readme"},
        "prompts/get": {"name": "choose_asset", "arguments": {"purpose": "a poster", "budget": "20"}},
        "completion/complete": {"ref": {"type": "ref/prompt", "name": "choose_asset"}, "argument": {"name": "currency", "value": "I"}},
    }
    messages = [{"method": method, "params": given.get(method, {})} for method in METHODS if method != "tools/call"]
    values = {
        "assetId": "harbor-grotesk",
        "q": "harbor",
        "idempotencyKey": "one",
        "limit": 5,
        "sort": "newest",
        "cursor": "bm8",
        "minPrice": 1,
    }
    for name, tool in TOOLS.items():
        arguments = {field: values[field] for field in tool.input_schema["properties"] if field in values}
        messages.append({"method": "tools/call", "params": {"name": name, "arguments": arguments}})
    return messages


class Dice:
    """Spoils messages."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.good = good_messages()

    def messages(self, count: int) -> Iterator[tuple[bytes, dict[str, str | None]]]:
        """Yield bodies and headers, none of which is as a client would send it."""
        for number in range(count):
            message = {"jsonrpc": "2.0", "id": number, **copy.deepcopy(self.random.choice(self.good))}
            headers = self._proper(message)
            kind = self.random.randrange(4)
            if kind < 3:
                for _ in range(self.random.randint(1, 3)):
                    self._spoil(message)
            body = self._text(message)
            if kind == 1:
                headers[self.random.choice(HEADERS)] = self.random.choice(HEADER_VALUES)
            if kind == 3:
                body = self._garbled(body)
            yield body, headers

    def _proper(self, message: dict[str, Any]) -> dict[str, str | None]:
        params, revision = message["params"], self.random.choice(["2026-07-28", "2026-07-28", "2025-11-25", "2025-06-18"])
        headers: dict[str, str | None] = {"mcp_protocol_version": revision}
        if revision == "2026-07-28":
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": {}}
            headers |= {"mcp_method": message["method"], "mcp_name": params.get("name") or params.get("uri")}
        return headers

    def _spoil(self, message: dict[str, Any]) -> None:
        """Replace, drop, rename or add something somewhere."""
        holder: Any = message
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                return
            key = self.random.choice(keys)
            inner = holder[key]
            if not isinstance(inner, dict | list) or not inner or self.random.random() < 0.3:
                break
            holder = inner
        match self.random.randrange(4):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[str(self.random.choice(HOSTILE))[:100]] = self.random.choice(HOSTILE)
            case 2 if isinstance(holder, dict):
                holder[f"{key}x"] = holder.pop(key)
            case _:
                holder[key] = copy.deepcopy(self.random.choice(HOSTILE))

    def _text(self, message: dict[str, Any]) -> bytes:
        text = json.dumps(message)
        if self.random.random() < 0.1:
            # A name that comes twice.
            name = self.random.choice(["id", "method", "params", "jsonrpc"])
            text = f'{text[:-1]}, "{name}": {json.dumps(self.random.choice(HOSTILE))}}}'
        if self.random.random() < 0.05:
            text = f"[{text}, {text}]"
        if self.random.random() < 0.05:
            depth = self.random.choice([10, 100, 5_000])
            text = f'{text[:-1]}, "deep": {"[" * depth}{"]" * depth}}}'
        return text.encode()

    def _garbled(self, body: bytes) -> bytes:
        at = self.random.randrange(len(body))
        match self.random.randrange(4):
            case 0:
                return body[:at]
            case 1:
                return body[:at] + self.random.choice(JUNK) + body[at:]
            case 2:
                return body[:at] + bytes([self.random.randrange(256)]) + body[at + 1 :]
            case _:
                return self.random.randbytes(self.random.randint(1, 200))


def judged(response: Any) -> str:
    """Return how a message was answered, when that is as the protocol wants it.

    Raises:
        AssertionError: it is not.
    """
    status, content = response.status_code, response.content
    assert status in {200, 202, 400, 401, 403, 404, 405, 406, 413, 415}, (status, content[:300])
    if status == 202:
        assert content == b""
        return "202"
    answer = json.loads(content)
    assert response["Content-Type"] == "application/json"
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] is None or type(answer["id"]) in {int, str}
    if "result" in answer:
        assert status == 200
        assert answer.keys() == {"jsonrpc", "id", "result"}
        return "refused by a tool" if answer["result"].get("isError") else "result"
    error = answer["error"]
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert type(error["code"]) is int
    assert error["code"] not in {-32603, 500}, answer
    assert isinstance(error["message"], str)
    assert 0 < len(error["message"]) < 1_000
    assert len(content) < 100_000
    return f"{status} {error['code']}"


def fuzz(secret: str, *, seed: int, count: int) -> Counter[str]:
    """Send messages and return how often they were answered how."""
    from .speaking import Speaker  # noqa: PLC0415 - as above

    speaker, seen = Speaker(secret), Counter[str]()
    for number, (body, headers) in enumerate(Dice(seed).messages(count)):
        try:
            seen[judged(speaker.post(body, **headers))] += 1
        except (AssertionError, ValueError, KeyError, TypeError) as error:
            message = f"message {number} of seed {seed}: {headers} {body[:500]!r}: {error}"
            raise AssertionError(message) from error
    return seen


def main() -> int:
    """Fuzz an empty database."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mcp.fuzzing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    options = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "marketplace.settings.test"
    django.setup()
    setup_test_environment()
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, 10**9)
    logging.getLogger("django.request").setLevel(logging.ERROR)
    made = setup_databases(verbosity=0, interactive=False)
    from .test_fuzz import prepared  # noqa: PLC0415 - as above

    try:
        began = time.monotonic()
        seen = fuzz(prepared(), seed=options.seed, count=options.messages)
    finally:
        teardown_databases(made, verbosity=0)
    for outcome, count in seen.most_common():
        print(f"{count:>9}  {outcome}")  # noqa: T201 - the command's answer
    print(f"{options.messages} messages of seed {options.seed} in {time.monotonic() - began:.0f} s: none broke the form")  # noqa: T201 - as above
    return 0


if __name__ == "__main__":
    sys.exit(main())

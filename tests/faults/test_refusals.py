"""A large upload that cannot succeed is refused by the real server while almost all of it is still with the client."""

from collections.abc import Iterator
from typing import Any

import pytest

from .client import Upload
from .service import Service, serving

pytestmark = pytest.mark.full

LENGTH = 64 * 2**20
# What the sockets of both sides hold on loopback, and what the server had read ahead.
AHEAD_BYTES = 8 * 2**20
MAXIMUM = 5 * 2**30


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, dict[str, Any]]]:
    with serving(tmp_path_factory.mktemp("service")) as (running, facts):
        facts["listing"] = min(facts["listings"])
        yield running, facts


# Code, status, whose token of the facts, further headers, announced length: what is refused by the caller, the state, and the headers.
# All other refusals come as early: `tests/vendors/test_files.py`.
CASES: dict[str, tuple[int, str, dict[str, str], int | None]] = {
    "not_authenticated": (401, "", {}, LENGTH),
    "listing_locked": (409, "waiting", {}, LENGTH),
    "length_required": (411, "vendor", {"Transfer-Encoding": "chunked"}, None),
    "body_too_large": (413, "vendor", {}, MAXIMUM + 2**20),
}


@pytest.mark.parametrize("code", CASES)
def test_large_body_is_refused_before_it_is_sent(code: str, served: tuple[Service, dict[str, Any]]) -> None:
    (running, facts), (status, whose, headers, length) = served, CASES[code]
    authorization = {"Authorization": f"Bearer {facts[whose]}"} if whose else {}
    listing = facts["locked" if whose == "waiting" else "listing"]
    request = Upload(running.port, f"/api/v1/vendor/assets/{listing}/file", authorization | headers, length)
    # Twice what it may take; more is announced. Chunked, the first chunk is announced as larger than what is sent of it.
    body = b"x" * 2 * AHEAD_BYTES
    request.send(f"{2 * LENGTH:x}\r\n".encode() + body if length is None else body)
    answer = request.answer()
    assert (answer.status, answer.document["code"]) == (status, code)
    assert answer.sent < AHEAD_BYTES
    assert list((running.folder / "media" / ".staging").glob("*")) == []

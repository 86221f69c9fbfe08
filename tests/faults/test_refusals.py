"""A large upload that cannot succeed is refused by the real server while almost all of it is still with the client."""

from collections.abc import Iterator
from typing import Any

import pytest

from .client import Upload
from .service import Service, service

pytestmark = pytest.mark.full

LENGTH = 64 * 2**20
# What the sockets of both sides hold on loopback, and what the server had read ahead.
AHEAD_BYTES = 8 * 2**20
MAXIMUM = 5 * 2**30


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, dict[str, Any]]]:
    """A service and its facts."""
    with service(tmp_path_factory.mktemp("service")) as running:
        facts = running.prepare(1)
        facts["listing"] = min(facts["listings"])
        running.start()
        yield running, facts


def path_of(listing: str) -> str:
    """Return where a listing's file is uploaded to."""
    return f"/api/v1/vendor/assets/{listing}/file"


# Status, code, whose token of the facts (or the header itself), further headers, announced length.
CASES: list[tuple[int, str, str, dict[str, str], int | None]] = [
    (401, "not_authenticated", "", {}, LENGTH),
    (401, "invalid_credential", "Bearer cam_pat_nothing", {}, LENGTH),
    (403, "insufficient_scope", "reader", {}, LENGTH),
    (403, "vendor_not_approved", "stranger", {}, LENGTH),
    (404, "not_found", "other", {}, LENGTH),
    (409, "listing_locked", "waiting", {}, LENGTH),
    (411, "length_required", "vendor", {"Transfer-Encoding": "chunked"}, None),
    (413, "body_too_large", "vendor", {}, MAXIMUM + 2**20),
    (415, "unsupported_type", "vendor", {"Content-Type": "application/zip"}, LENGTH),
]


@pytest.mark.parametrize(("status", "code", "whose", "headers", "length"), CASES, ids=[case[1] for case in CASES])
def test_large_body_is_refused_before_it_is_sent(
    status: int, code: str, whose: str, headers: dict[str, str], length: int | None, served: tuple[Service, dict[str, Any]]
) -> None:
    running, facts = served
    authorization = f"Bearer {facts[whose]}" if whose in facts else whose
    request = Upload(
        running.port, path_of(facts["locked" if whose == "waiting" else "listing"]), {"Authorization": authorization} | headers, length
    )
    # Chunked, the first chunk is announced as larger than what is sent of it.
    body = b"x" * LENGTH
    request.send(f"{2 * LENGTH:x}\r\n".encode() + body if length is None else body)
    answer = request.answer()
    assert (answer.status, answer.document["code"]) == (status, code)
    assert answer.sent < AHEAD_BYTES
    assert list((running.folder / "media" / ".staging").glob("*")) == []


def test_content_of_no_taken_type_is_refused_once_it_is_there(served: tuple[Service, dict[str, Any]]) -> None:
    running, facts = served
    body = b'------boundary\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\nMZ\0\0\r\n------boundary--\r\n'
    request = Upload(running.port, path_of(facts["listing"]), {"Authorization": f"Bearer {facts['vendor']}"}, len(body))
    request.send(body)
    answer = request.answer()
    assert (answer.status, answer.document["code"]) == (415, "unsupported_type")

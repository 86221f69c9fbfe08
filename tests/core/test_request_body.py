"""Bodies that arrive slowly, or not at all."""

import io
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.util import setup_testing_defaults

import orjson
import pytest

from marketplace import wsgi
from marketplace.core import bounds
from marketplace.core.request_body import RequestBody

SECONDS = 0.2


class Slow(io.BytesIO):
    """A stream that sends so many bytes a second."""

    def __init__(self, content: bytes, speed: float) -> None:
        super().__init__(content)
        self._speed = speed

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, not before they have arrived."""
        block = super().read(size)
        time.sleep(len(block) / self._speed)
        return block


class Silent(io.BytesIO):
    """A stream that never says anything, nor that it ends."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()

    def read(self, _size: int | None = -1) -> bytes:
        """Wait for the end of the test."""
        self.over.wait()
        return b""


@pytest.fixture
def silent() -> Iterator[Silent]:
    stream = Silent()
    yield stream
    stream.over.set()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "BODY_SECONDS", SECONDS)


def test_body_that_does_not_arrive_ends_the_request_and_every_further_read(silent: Silent, monkeypatch: pytest.MonkeyPatch) -> None:
    body = RequestBody(silent)
    with pytest.raises(TimeoutError):
        body.read(10)
    monkeypatch.setattr(bounds, "BODY_SECONDS", 1_000_000)
    with pytest.raises(TimeoutError):
        body.read(10)


def test_body_that_trickles_has_a_deadline_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "BODY_BYTES_A_SECOND", 1000)
    body = RequestBody(Slow(b"x" * 1000, speed=100))
    with pytest.raises(TimeoutError):
        list(iter(lambda: body.read(1), b""))
    assert 0 < body.taken < 1000


def test_body_that_keeps_coming_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "BODY_BYTES_A_SECOND", 20)
    body = RequestBody(Slow(b"x" * 40, speed=80))
    assert b"".join(body.read(10) for _ in range(4)) == b"x" * 40


def test_others_work_while_a_body_is_on_its_way_and_not_for_one_that_is_there() -> None:
    waits = []

    @contextmanager
    def waiting() -> Iterator[None]:
        waits.append(1)
        yield

    for stream in (io.BytesIO(b"0123456789"), Slow(b"0123456789", speed=80)):
        body = RequestBody(stream)
        body.waiting = waiting
        assert body.read(10) == b"0123456789"
    assert len(waits) == 1


def test_error_of_the_connection_reaches_the_view() -> None:
    class Broken(io.BytesIO):
        def read(self, _size: int | None = -1) -> bytes:
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        RequestBody(Broken()).read(1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "content_type", "status"),
    [
        ("/api/v1/leaked-credentials", "application/json", "408"),
        ("/mcp", "application/json", "401"),
        # The error of its protocol.
        ("/oauth/token", "application/x-www-form-urlencoded", "400"),
        # Refused before its body is looked for.
        ("/api/v1/wallet/spend", "application/json", "401"),
    ],
)
def test_request_whose_body_does_not_arrive_is_answered_and_its_connection_closed(
    silent: Silent, path: str, content_type: str, status: str
) -> None:
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    environ |= {"HTTP_HOST": "testserver", "REQUEST_METHOD": "POST", "PATH_INFO": path, "CONTENT_TYPE": content_type}
    environ |= {"CONTENT_LENGTH": "2", "wsgi.input": silent, "SERVER_SOFTWARE": "Granian"}
    sent: dict[str, Any] = {}
    content = b"".join(wsgi.application(environ, lambda line, headers, *_info: sent.update(headers, status=line[:3])))
    assert (sent["status"], sent["Connection"]) == (status, "close")
    if status == "408" and path.startswith("/api/"):
        assert orjson.loads(content)["code"] == "request_timeout"

"""Bodies that arrive slowly."""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

import orjson
import pytest
from django.urls import get_urlconf, reverse
from drf_spectacular.generators import SchemaGenerator

from marketplace import wsgi
from marketplace.core import bounds
from marketplace.http import request_body
from marketplace.http.request_body import RequestBody, is_buffered, is_upload
from tests.waiting import PATIENCE_SECONDS

SECONDS = 0.2
UPLOAD = "/api/v1/vendor/assets/0192f0c1/file"


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Return the time."""
        return self.now


class Slow(io.BytesIO):
    """A stream that sends so many bytes a second."""

    def __init__(self, content: bytes, speed: float, clock: Clock) -> None:
        super().__init__(content)
        self._speed, self._clock = speed, clock

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, and let the time pass in which they arrive."""
        block = super().read(size)
        self._clock.now += len(block) / self._speed
        return block


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the bodies, which may take SECONDS."""
    clock = Clock()
    monkeypatch.setattr(request_body, "time", clock)
    monkeypatch.setattr(bounds, "BODY_SECONDS", SECONDS)
    monkeypatch.setattr(request_body, "BLOCK_BYTES", 10)
    return clock


def test_body_that_trickles_is_refused_once_its_time_is_over_and_at_every_further_read(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "BODY_BYTES_A_SECOND", 1000)
    body = RequestBody(Slow(b"x" * 1000, 100, clock))
    with pytest.raises(TimeoutError):
        body.read(1000)
    taken = body.received
    assert 0 < taken < 1000
    for read in (body.read, body.readline):
        with pytest.raises(TimeoutError):
            read(10)
    assert body.received == taken


def test_body_whose_last_block_comes_late_is_accepted(clock: Clock) -> None:
    assert RequestBody(Slow(b"x" * 10, 30, clock)).read(10) == b"x" * 10


def test_body_that_keeps_coming_may_take_longer(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "BODY_BYTES_A_SECOND", 20)
    body = RequestBody(Slow(b"x" * 40, 80, clock))
    assert b"".join(body.read(10) for _ in range(4)) == b"x" * 40


def test_time_between_reads_of_a_body_does_not_count_against_its_rate(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "BODY_BYTES_A_SECOND", 1_000_000)
    body = RequestBody(io.BytesIO(b"x" * 20))
    assert body.read(10) == b"x" * 10
    clock.now += 2 * SECONDS
    assert body.read(10) == b"x" * 10


@pytest.mark.parametrize("size", [-1, 25, 100])
def test_read_returns_all_that_it_was_asked_for_in_one_turn(size: int) -> None:
    waits = []

    @contextmanager
    def waiting() -> Iterator[None]:
        waits.append(1)
        yield

    body = RequestBody(io.BytesIO(b"0123456789" * 3))
    body.waiting = waiting
    assert body.read(size) == (b"0123456789" * 3)[: size if size > 0 else None]
    assert len(waits) == 1


def test_error_of_the_connection_reaches_the_view() -> None:
    class Broken(io.BytesIO):
        def read(self, _size: int | None = -1) -> bytes:
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        RequestBody(Broken()).read(1)


@pytest.mark.parametrize(
    ("proxies", "content_type", "expected"),
    [
        (["127.0.0.1"], "application/json", True),
        (["127.0.0.1"], "", True),
        # Passed on as they arrive, whatever else their type says.
        (["127.0.0.1"], " Multipart/Form-Data; boundary=x; charset=idna", False),
        ([], "application/json", False),
    ],
)
def test_body_is_at_hand_where_a_proxy_of_ours_has_buffered_it(
    *, proxies: list[str], content_type: str, expected: bool, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = proxies
    environ = {"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "203.0.113.9", "CONTENT_TYPE": content_type}
    assert is_buffered(environ | {"PATH_INFO": UPLOAD}) is expected
    # A form at any other address is no upload.
    assert is_buffered(environ | {"PATH_INFO": "/certificates/verify"}) is bool(proxies)


@pytest.mark.slow
def test_addresses_of_uploads_are_those_that_take_files_here_and_in_the_proxy(settings: Any) -> None:
    template = Path(settings.BASE_DIR / "deploy/nginx.conf.template").read_text(encoding="utf-8")
    assert f"location ~ {settings.UPLOAD_PATHS} {{" in template
    paths = SchemaGenerator(urlconf=get_urlconf()).get_schema(request=None, public=True)["paths"]
    of_the_api = {path for path, item in paths.items() if "multipart/form-data" in str(item.get("post", {}).get("requestBody"))}
    views = {"studio-file-upload": (), "studio-picture-upload": (0,), "studio-specimen-upload": (), "studio-sound-upload": ()}
    of_the_studio = {reverse(name, args=["slug", *slot]) for name, slot in views.items()}
    of_the_studio |= {reverse(f"studio-{kind}-upload") for kind in ("logo", "banner")}
    assert of_the_api
    form = {"CONTENT_TYPE": "multipart/form-data; boundary=x"}
    assert [path for path in of_the_api | of_the_studio if not is_upload(form | {"PATH_INFO": path})] == []
    # A body that trickles in would hold a thread of a node.
    others = paths.keys() - of_the_api | {
        reverse(f"studio-{name}", args=["slug"]) for name in ("details", "prices", "files", "file-discard")
    }
    assert [path for path in others if is_upload(form | {"PATH_INFO": path})] == []


def test_unwanted_bodies_that_do_not_end_hold_only_so_many_threads() -> None:
    go, reading = threading.Event(), threading.Semaphore(0)

    class Silent(io.BytesIO):
        def read(self, _size: int | None = -1) -> bytes:
            reading.release()
            assert go.wait(PATIENCE_SECONDS)
            return b""

    threads = [threading.Thread(target=RequestBody(Silent()).discard) for _ in range(request_body.DISCARDING_THREADS)]
    for thread in threads:
        thread.start()
    assert all(reading.acquire(timeout=PATIENCE_SECONDS) for _ in threads)
    RequestBody(Silent()).discard()
    go.set()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    ended = io.BytesIO(b"x")
    RequestBody(ended).discard()
    assert ended.read() == b""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "content_type", "status"),
    [
        ("/api/v1/leaked-credentials", "application/json", "408"),
        # The error of its protocol.
        ("/oauth/token", "application/x-www-form-urlencoded", "400"),
    ],
)
def test_request_whose_body_trickles_is_answered_and_its_connection_closed(
    path: str, content_type: str, status: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "BLOCK_BYTES", 1)
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    environ |= {"HTTP_HOST": "testserver", "REQUEST_METHOD": "POST", "PATH_INFO": path, "CONTENT_TYPE": content_type}
    environ |= {"CONTENT_LENGTH": "2", "wsgi.input": Slow(b"{}", 1 / (2 * SECONDS), clock), "SERVER_SOFTWARE": "Granian"}
    sent: dict[str, Any] = {}
    content = b"".join(wsgi.application(environ, lambda line, headers, *_info: sent.update(headers, status=line[:3])))
    assert (sent["status"], sent["Connection"]) == (status, "close")
    if status == "408":
        assert orjson.loads(content)["code"] == "request_timeout"

"""More requests than a process can do: held ones stand for slow ones, so that nothing here depends on time."""

import io
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import orjson
import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import Client, RequestFactory

from marketplace.core.errors import Overloaded
from marketplace.http import overload
from marketplace.http.overload import OverloadMiddleware
from marketplace.http.request_body import RequestBody
from marketplace.storage.base import waiting_for
from tests.waiting import PATIENCE_SECONDS, until
from vendors.logos import process_logo
from vendors.sandbox import replies, runner

THREADS, AT_ONCE = 10, 2
# What is inside: all but the threads that stay free to refuse.
PLACES = THREADS - AT_ONCE
GIVE_UP = PATIENCE_SECONDS
UPLOAD, FORM = "/api/v1/vendor/assets/0192f0c1/file", "multipart/form-data; boundary=x"
HERE, THERE = "203.0.113.1", "203.0.113.2"


class Server:
    """A server of so many threads, whose work is held until it is let go."""

    def __init__(self) -> None:
        self.go, self.store, self.at_work, self.waiting = threading.Event(), threading.Event(), 0, 0
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS)
        self.middleware = OverloadMiddleware(self._work)
        self.limiter = self.middleware.limiter

    def _work(self, request: HttpRequest) -> HttpResponseBase:
        with self._lock:
            self.at_work += 1
        if request.path == "/api/file":
            with waiting_for("service"):
                with self._lock:
                    self.waiting += 1
                assert self.store.wait(GIVE_UP)
        elif request.path == "/api/logo":
            process_logo(b"an image", sender=request.META["REMOTE_ADDR"])
        elif request.path != "/api/quick":
            assert self.go.wait(GIVE_UP)
        if request.path == "/api/echo":
            return HttpResponse(request.body)
        if request.path == "/api/broken":
            raise ValueError(request.path)
        return StreamingHttpResponse([b"a", b"b"]) if request.path == "/api/stream" else HttpResponse(b"done")

    def send(
        self,
        path: str = "/api/v1/assets",
        stream: Any = None,
        *,
        buffered: bool = False,
        address: str = HERE,
        kind: str = "application/json",
    ) -> "Future[HttpResponseBase]":
        """Send a request, with a body of two bytes if there is a stream for it; wait until it is held, waits, or is answered."""
        body: Any = {"wsgi.input": RequestBody(stream, buffered=buffered), "CONTENT_LENGTH": "2", "CONTENT_TYPE": kind} if stream else {}
        request = RequestFactory(**body, REMOTE_ADDR=address).generic("POST", path)
        before = self.inside()
        sent: Future[HttpResponseBase] = self._threads.submit(self.middleware, request)
        until(lambda: sent.done() or self.inside() > before, "an answer, or a place that is taken")
        return sent

    def inside(self) -> int:
        """Return how many places are taken."""
        return self.limiter._admitted._held.total()

    def upload(self, address: str) -> "Future[HttpResponseBase]":
        """Send a form with a file."""
        return self.send(UPLOAD, io.BytesIO(b"{}"), address=address, kind=FORM)

    def close(self) -> None:
        """Let everything go."""
        self.go.set()
        self.store.set()
        self._threads.shutdown()


class Trickle(io.BytesIO):
    """A body that does not come until it is let go."""

    def __init__(self) -> None:
        super().__init__(b"{}")
        self.go = threading.Event()

    def read(self, size: int | None = -1) -> bytes:
        """Wait."""
        assert self.go.wait(GIVE_UP)
        return super().read(size)


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(overload, "WAIT_SECONDS", GIVE_UP)
    settings.SERVER_THREADS, settings.REQUESTS_AT_ONCE = THREADS, AT_ONCE
    running = Server()
    yield running
    running.close()


def code(response: HttpResponseBase) -> Any:
    assert isinstance(response, HttpResponse)
    return orjson.loads(response.content)["code"]


@pytest.mark.slow
def test_request_beyond_the_queue_is_refused_at_once(server: Server) -> None:
    held = [server.send() for _ in range(PLACES)]
    refused = [server.send().result(GIVE_UP) for _ in range(3 * THREADS)]
    assert {response.status_code for response in refused} == {503}
    assert {response["Retry-After"] for response in refused} == {"2"}
    assert {code(response) for response in refused} == {"overloaded"}
    # The others wait in line: so many work, and no more.
    assert server.at_work == AT_ONCE
    assert not any(future.done() for future in held)

    server.go.set()
    assert {future.result(GIVE_UP).status_code for future in held} == {200}
    assert server.inside() == 0
    assert server.send().result(GIVE_UP).status_code == 200


def test_request_that_waits_too_long_for_a_slot_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [server.send() for _ in range(AT_ONCE)]
    monkeypatch.setattr(overload, "WAIT_SECONDS", 0.01)
    assert code(server.send().result(GIVE_UP)) == "overloaded"
    assert server.inside() == AT_ONCE
    server.go.set()
    assert {future.result(GIVE_UP).status_code for future in held} == {200}


def test_slot_of_an_unfinished_response_is_released_by_the_next_request_of_its_thread(server: Server) -> None:
    server.go.set()
    for _ in range(2 * PLACES):
        assert server.middleware(RequestFactory().get("/api/stream")).status_code == 200
    assert server.inside() == 1


def test_uploads_take_no_slots_and_are_limited(server: Server) -> None:
    uploads = [server.upload(f"203.0.113.{number}") for number in range(AT_ONCE)]
    assert code(server.upload("203.0.113.9").result(GIVE_UP)) == "overloaded"
    assert server.send("/api/quick").result(GIVE_UP).status_code == 200
    server.go.set()
    assert {future.result(GIVE_UP).status_code for future in uploads} == {200}
    assert server.upload(HERE).result(GIVE_UP).status_code == 200


def test_uploads_of_one_client_address_leave_room_for_others(server: Server) -> None:
    uploads = [server.upload(HERE) for _ in range(AT_ONCE)]
    assert [future.done() for future in uploads] == [False] * (AT_ONCE // 2) + [True] * (AT_ONCE // 2)
    assert not server.upload(THERE).done()


def test_form_at_an_address_without_files_does_not_count_as_an_upload(server: Server) -> None:
    server.go.set()
    bodies = [Trickle() for _ in range(AT_ONCE)]
    forms = [server.send("/api/echo", body, kind=FORM) for body in bodies]
    until(lambda: server.at_work == len(forms), "views that wait for their forms")
    assert [server.upload(HERE).result(GIVE_UP).status_code for _ in range(AT_ONCE)] == [200] * AT_ONCE
    for body in bodies:
        body.go.set()


def test_slow_bodies_of_one_client_address_leave_room_for_others(server: Server) -> None:
    server.go.set()
    bodies = [Trickle() for _ in range(PLACES // 4)]
    slow = [server.send("/api/echo", body) for body in bodies]
    until(lambda: server.at_work == len(slow), "views that wait for their bodies")
    assert code(server.send("/api/echo", Trickle()).result(GIVE_UP)) == "overloaded"
    # Without a body, or from elsewhere.
    assert server.send().result(GIVE_UP).status_code == 200
    assert server.send("/api/echo", io.BytesIO(b"{}"), address=THERE).result(GIVE_UP).status_code == 200
    for body in bodies:
        body.go.set()


def test_slow_bodies_take_no_slots_and_at_most_half_of_the_queue(server: Server) -> None:
    server.go.set()
    bodies = [Trickle() for _ in range(PLACES // 2)]
    slow = [server.send("/api/echo", body, address=f"203.0.113.{number}") for number, body in enumerate(bodies)]
    # Each of them has begun, as far as it can be judged without its body.
    until(lambda: server.at_work == len(slow), "views that wait for their bodies")
    assert code(server.send("/api/echo", Trickle(), address="203.0.113.9").result(GIVE_UP)) == "overloaded"
    assert server.inside() == PLACES // 2
    assert server.send().result(GIVE_UP).status_code == 200
    assert server.upload(HERE).result(GIVE_UP).status_code == 200
    for body in bodies:
        body.go.set()
    answers = [future.result(GIVE_UP) for future in slow]
    assert {getattr(response, "content", None) for response in answers} == {b"{}"}
    assert server.inside() == 0


@pytest.mark.slow
def test_request_takes_a_slot_again_once_its_body_has_arrived(server: Server) -> None:
    server.go.set()
    body = Trickle()
    slow = server.send("/api/echo", body)
    until(lambda: server.at_work == 1, "a view that waits for its body")
    server.go.clear()
    held = [server.send() for _ in range(AT_ONCE)]
    until(lambda: server.at_work == 1 + AT_ONCE, "turns that are all taken")
    body.go.set()
    with pytest.raises(TimeoutError):
        slow.result(0.2)
    server.go.set()
    assert {future.result(GIVE_UP).status_code for future in (slow, *held)} == {200}


@pytest.mark.slow
def test_request_with_a_body_buffered_by_a_proxy_keeps_its_slot(server: Server) -> None:
    server.go.set()
    bodies = [Trickle() for _ in range(AT_ONCE)]
    reading = [server.send("/api/echo", body, buffered=True) for body in bodies]
    until(lambda: server.at_work == AT_ONCE, "views that read their bodies")
    other = server.send("/api/quick")
    with pytest.raises(TimeoutError):
        other.result(0.2)
    for body in bodies:
        body.go.set()
    assert {future.result(GIVE_UP).status_code for future in (*reading, other)} == {200}


def test_requests_that_wait_for_the_file_store_release_their_slots_and_are_limited(server: Server) -> None:
    slow = [server.send("/api/file") for _ in range(PLACES // 4)]
    until(lambda: server.waiting == len(slow), "views that wait")
    with pytest.raises(Overloaded) as refusal:
        server.send("/api/file").result(GIVE_UP)
    assert "Retry-After" not in refusal.value.message
    held = [server.send() for _ in range(AT_ONCE)]
    until(lambda: server.at_work == len(slow) + 1 + AT_ONCE, "turns that are all taken")
    server.store.set()
    # They answer once they have a turn again.
    with pytest.raises(TimeoutError):
        slow[0].result(0.2)
    server.go.set()
    assert {future.result(GIVE_UP).status_code for future in (*slow, *held)} == {200}
    assert server.send("/api/file").result(GIVE_UP).status_code == 200


def test_requests_that_wait_for_inspections_release_their_slots_and_one_client_address_has_half_of_them(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Semaphore(0), threading.Event()

    def hang(*_arguments: Any) -> Any:
        begun.release()
        assert go.wait(GIVE_UP)
        return replies.Verdict("accepted", "", {}, []), [b"\xff\xd8\xff"]

    monkeypatch.setattr(runner, "_exchange", hang)
    logos = [server.send("/api/logo", address=f"203.0.113.{number}") for number in range(PLACES // 4)]
    assert begun.acquire(timeout=GIVE_UP)
    until(lambda: server.at_work == len(logos) and server.limiter._slots._value == AT_ONCE, "logos that are being inspected")
    # As many wait as may, and of one address half as many.
    with pytest.raises(Overloaded) as refusal:
        server.send("/api/logo", address="203.0.113.9").result(GIVE_UP)
    assert refusal.value.headers["Retry-After"] == "2"
    assert [server.send("/api/quick").result(GIVE_UP).status_code for _ in range(THREADS)] == [200] * THREADS
    # Nor do they take what requests for the file store have.
    server.store.set()
    assert server.send("/api/file").result(GIVE_UP).status_code == 200
    go.set()
    assert {future.result(GIVE_UP).status_code for future in logos} == {200}
    go.clear()
    one = server.send("/api/logo")
    until(lambda: server.limiter._slots._value == AT_ONCE, "a logo that is being inspected")
    with pytest.raises(Overloaded):
        server.send("/api/logo").result(GIVE_UP)
    go.set()
    assert one.result(GIVE_UP).status_code == 200


@pytest.mark.slow
def test_view_that_raises_releases_its_slot(server: Server) -> None:
    server.go.set()
    for _ in range(2 * PLACES):
        with pytest.raises(ValueError, match="broken"):
            server.send("/api/broken").result(GIVE_UP)
    assert server.inside() == 0
    assert server.send().result(GIVE_UP).status_code == 200


def test_streamed_responses_take_no_slots_and_at_most_half_of_the_queue(server: Server) -> None:
    server.go.set()
    ended = threading.Event()

    def stream(address: str) -> None:
        response = server.middleware(RequestFactory(REMOTE_ADDR=address).get("/api/stream"))
        assert response.streaming
        assert ended.wait(GIVE_UP)
        request_finished.send(sender=None)

    # Of each address, half as many.
    readers = [threading.Thread(target=stream, args=(address,)) for address in [HERE, THERE] * (PLACES // 4)]
    for reader in readers:
        reader.start()
    until(lambda: server.at_work == len(readers) == server.inside(), "answers that are being sent")
    assert code(server.send("/api/stream").result(GIVE_UP)) == "overloaded"
    assert [server.send().result(GIVE_UP).status_code for _ in range(PLACES)] == [200] * PLACES
    ended.set()
    for reader in readers:
        reader.join(GIVE_UP)
    assert server.send("/api/stream").result(GIVE_UP).status_code == 200


@pytest.mark.parametrize(("threads", "at_once"), [(0, 4), (24, 0)])
def test_process_without_a_configured_number_of_threads_refuses_no_request(settings: Any, threads: int, at_once: int) -> None:
    settings.SERVER_THREADS, settings.REQUESTS_AT_ONCE = threads, at_once
    with pytest.raises(MiddlewareNotUsed):
        OverloadMiddleware(lambda _: HttpResponse())


@pytest.mark.django_db
def test_overloaded_process_shows_an_error_page_and_answers_health_checks(
    settings: Any, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SERVER_THREADS, settings.REQUESTS_AT_ONCE = THREADS, AT_ONCE
    monkeypatch.setattr("marketplace.http.overload.ConcurrencyLimiter.enter", lambda *_args, **_kwargs: False)
    client = Client()
    with django_assert_num_queries(0):
        page = client.get("/library")
        document = client.get("/api/v1/assets")
        assert client.get("/healthz").status_code == 200
    assert (page.status_code, page["Retry-After"], page["Content-Type"]) == (503, "2", "text/html; charset=utf-8")
    assert b"The service is busy" in page.content
    assert (document.status_code, document["Content-Type"]) == (503, "application/problem+json")
    assert document["X-Request-Id"] == document.json()["requestId"]
    # Scripts of other origins can read why.
    assert document["Access-Control-Allow-Origin"] == "*"
    # A rush does not fill the log.
    assert not [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]

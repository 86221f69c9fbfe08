"""Load shedding: a process that is asked for more than it can do refuses at once with 503 and `Retry-After`.

The server hands each request to a thread and queues the requests that find none. That queue is invisible to us, and under overload
everyone in it waits longer and longer for answers that they have given up on. So a process has more threads than it works with
(`GRANIAN_BLOCKING_THREADS`): `REQUESTS_AT_ONCE` of them work, and as many stay free, to refuse requests and to answer health checks;
in the others requests wait for their turn. A request that finds no thread is refused within a millisecond.

Slow clients are kept apart: a request gives up its turn while its body arrives, unless a proxy has buffered it, and requests with bodies, uploads and answers that are
being sent each have a limit of their own. So is a slow file store: a request gives up its turn while it waits for it, and only so many wait at a time.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from . import bounds
from .api.problems import answer
from .db.connections import release_connections
from .errors import Overloaded
from .observing.middleware import ROUTE_KEY
from .request_body import RequestBody
from .waiting import waiting

# A request that waited this long is refused: those ahead of it are slow. It equals the time that a thread waits for a database
# connection, and is long enough that a machine that pauses for a moment refuses nobody.
WAIT_SECONDS = 5.0
RETRY_SECONDS = "2"


class ConcurrencyLimiter:
    """The capacity of a process.

    Args:
        threads: Number of server threads of this process.
        at_once: How many requests are worked on at a time; as many uploads are received besides, and as many threads stay free.
    """

    def __init__(self, *, threads: int, at_once: int) -> None:
        admitted = threads - at_once
        self._admitted = threading.Semaphore(admitted)
        self._bodies = threading.Semaphore(admitted // 2)
        self._uploads = threading.Semaphore(at_once)
        self._streams = threading.Semaphore(admitted // 2)
        self._waiting = threading.Semaphore(admitted // 4)
        self._turns = threading.Semaphore(at_once)
        # What the request of a thread holds: a thread answers one at a time.
        self._mine = threading.local()

    def enter(self, *, upload: bool, body: bool) -> bool:
        """Admit the request of this thread, and wait for its turn to work unless it is an upload; return False to refuse it."""
        # A thread whose last request was never reported as finished gives back what that one held.
        self.leave()
        self._mine.held, self._mine.turn = ExitStack(), False
        limits = [self._admitted, *([self._uploads] if upload else [self._bodies] if body else [])]
        entered = all(self._hold(limit) for limit in limits)
        if entered and not upload:
            entered = self._mine.turn = self._turns.acquire(timeout=WAIT_SECONDS)
        if not entered:
            self.leave()
        return entered

    def send(self) -> bool:
        """Keep this thread for an answer that is sent bit by bit; return False when too many are."""
        return self._hold(self._streams)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Let others work, with this thread's database connections, while it waits for its client."""
        release_connections()
        paused = self._mine.turn
        self.end_turn()
        try:
            yield
        finally:
            if paused:
                self._turns.acquire()
                self._mine.turn = True

    @contextmanager
    def wait_elsewhere(self) -> Iterator[None]:
        """Let others work while this thread waits for another service.

        Raises:
            Overloaded: too many wait already.
        """
        if not self._mine.turn:
            # An upload is limited as one.
            yield
            return
        with self.pause():
            if not self._waiting.acquire(blocking=False):
                raise Overloaded(headers={"Retry-After": RETRY_SECONDS})
            try:
                yield
            finally:
                self._waiting.release()

    def end_turn(self) -> None:
        """Let the next one work; the thread is kept until `leave`."""
        if self._mine.turn:
            self._mine.turn = False
            self._turns.release()

    def leave(self) -> None:
        """Give back what this thread holds."""
        if hasattr(self._mine, "held"):
            self.end_turn()
            self._mine.held.close()

    def _hold(self, limit: threading.Semaphore) -> bool:
        held = limit.acquire(blocking=False)
        if held:
            self._mine.held.callback(limit.release)
        return held


class OverloadMiddleware:
    """Refuses requests with 503 when the process has no capacity left. Not installed where the number of threads is not known."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not (settings.SERVER_THREADS and settings.REQUESTS_AT_ONCE):
            raise MiddlewareNotUsed
        self.get_response = get_response
        self.limiter = ConcurrencyLimiter(threads=settings.SERVER_THREADS, at_once=settings.REQUESTS_AT_ONCE)
        request_finished.connect(self._finished, weak=False, dispatch_uid=("core.overload", id(self)))

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request when its turn comes."""
        if not self.limiter.enter(upload=_is_upload(request), body=bool(_length(request))):
            return _refusal(request)
        body = request.META.get("wsgi.input")
        if isinstance(body, RequestBody) and not body.buffered:
            body.waiting = self.limiter.pause
        sending, waits = False, waiting.set(self.limiter.wait_elsewhere)
        try:
            response = self.get_response(request)
            if response.streaming:
                # It keeps its thread until the last byte is sent.
                sending = self.limiter.send()
                if not sending:
                    response.close()
                    response = _refusal(request)
        finally:
            waiting.reset(waits)
            self.limiter.end_turn()
            if not sending:
                self.limiter.leave()
        return response

    def _finished(self, **_kwargs: Any) -> None:
        self.limiter.leave()


def _refusal(request: HttpRequest) -> HttpResponse:
    request.META[ROUTE_KEY] = "overloaded"
    refusal = answer(Overloaded(headers={"Retry-After": RETRY_SECONDS}), request)
    # Django would log every 503 as an error; the access log has them already.
    refusal._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
    return refusal


def _length(request: HttpRequest) -> str:
    """Return the stated length of the body, empty when there is no body."""
    length = request.META.get("CONTENT_LENGTH") or ""
    return "" if length == "0" else length


def _is_upload(request: HttpRequest) -> bool:
    """Tell whether the body counts as an upload: it is a multipart form, or larger than a JSON body may be."""
    length = _length(request)
    large = length.isascii() and length.isdigit() and (len(length) > len(str(bounds.GIB)) or int(length) > bounds.JSON_BODY_BYTES)
    # Without a body it is an ordinary request, whatever its Content-Type says.
    return large or (bool(length) and request.META.get("CONTENT_TYPE", "").lower().startswith("multipart/"))

"""Load shedding: a process that is asked for more than it can do refuses at once with 503 and `Retry-After`.

The server hands each request to a thread and queues the requests that find none. That queue is invisible to us, and under overload
everyone in it waits longer and longer for answers that they have given up on. So a process has more threads than it works with
(`GRANIAN_BLOCKING_THREADS`): `REQUESTS_AT_ONCE` of them work; at most as many receive uploads; as many are kept free, to refuse requests
and to answer health checks; in the others requests wait for their turn. A request that finds no place is refused within a millisecond.
"""

import threading
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponseBase, UnreadablePostError

from . import bounds
from .api.problems import answer
from .errors import MalformedBody, Overloaded
from .observing.middleware import ROUTE_KEY

# A request that waited this long is refused: those ahead of it are slow. It equals the time that a thread waits for a database
# connection, and is long enough that a machine that pauses for a moment refuses nobody.
WAIT_SECONDS = 5.0
RETRY_SECONDS = "2"


class Places:
    """The capacity of a process.

    Args:
        threads: Number of server threads of this process.
        at_once: How many requests are worked on at a time; as many uploads are received besides, and as many threads stay free.
    """

    def __init__(self, *, threads: int, at_once: int) -> None:
        self._lock = threading.Lock()
        self._free = threads - at_once
        self._uploads = at_once
        # Slowly arriving bodies occupy at most half of the places.
        self._arriving = threading.Semaphore(self._free // 2)
        self._turns = threading.Semaphore(at_once)
        self._mine = threading.local()

    def enter(self, *, upload: bool, receive: Callable[[], object] | None = None) -> bool:
        """Take a place, receive the body and wait for the turn to work.

        Args:
            upload: Whether the request needs no turn, but one of the places for uploads.
            receive: Reads the body; None when there is none.

        Returns:
            False when there is no place, or the turn does not come in time.
        """
        # A thread answers one request at a time: a place that its last request did not give back is given back here.
        self.leave()
        with self._lock:
            if self._free < 1 or (upload and self._uploads < 1):
                return False
            self._free -= 1
            self._uploads -= upload
        self._mine.upload = upload
        entered = False
        try:
            # A body may arrive as slowly as its sender likes, so it is received before the turn to work is taken.
            entered = upload or (self._received(receive) and self._turns.acquire(timeout=WAIT_SECONDS))
        finally:
            if not entered:
                self.leave()
        return entered

    def _received(self, receive: Callable[[], object] | None) -> bool:
        if receive is None:
            return True
        if not self._arriving.acquire(blocking=False):
            return False
        try:
            receive()
        finally:
            self._arriving.release()
        return True

    def end_turn(self, *, upload: bool) -> None:
        """Let the next one work; the place is kept until `leave`."""
        if not upload:
            self._turns.release()

    def leave(self) -> None:
        """Give this thread's place back, if it has one."""
        upload = getattr(self._mine, "upload", None)
        if upload is None:
            return
        self._mine.upload = None
        with self._lock:
            self._free += 1
            self._uploads += upload


class OverloadMiddleware:
    """Refuses requests with 503 when the process has no capacity left. Not installed where the number of threads is not known."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not (settings.SERVER_THREADS and settings.REQUESTS_AT_ONCE):
            raise MiddlewareNotUsed
        self.get_response = get_response
        self._places = Places(threads=settings.SERVER_THREADS, at_once=settings.REQUESTS_AT_ONCE)
        request_finished.connect(self._finished, weak=False, dispatch_uid=("core.overload", id(self)))

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request when its turn comes."""
        upload = _is_upload(request)
        try:
            entered = self._places.enter(upload=upload, receive=None if upload else _body_of(request))
        except UnreadablePostError:
            # The client is gone: no failure of ours.
            return answer(MalformedBody("The body ended too early."), request)
        if not entered:
            request.META[ROUTE_KEY] = "overloaded"
            refusal = answer(Overloaded(headers={"Retry-After": RETRY_SECONDS}), request)
            # Django would log every 503 as an error; the access log has them already.
            refusal._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
            return refusal
        sending = False
        try:
            response = self.get_response(request)
            # A streaming response keeps its thread, and so its place, until the last byte is sent.
            sending = response.streaming
        finally:
            self._places.end_turn(upload=upload)
            if not sending:
                self._places.leave()
        return response

    def _finished(self, **_kwargs: Any) -> None:
        self._places.leave()


def _body_of(request: HttpRequest) -> Callable[[], object] | None:
    """Return a function that reads the body, which Django keeps for the views; None when there is no body."""
    return (lambda: request.body) if _length(request) else None


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

"""What a process refuses when more is asked of it than it can do, at once and with a time to come back.

A server hands each request to a thread, and queues what finds none: nobody sees that queue, and under more load than a node can
bear everyone in it waits longer and longer for answers that they have given up on. So there are more threads than work at once
(`GRANIAN_BLOCKING_THREADS`): `REQUESTS_AT_ONCE` of them work, at most as many take uploads, as many are left free to refuse and to
answer the operators' machines, and in the others requests wait for their turn. Whoever finds no place is told so in a millisecond.
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

# Whoever waited so long is let go: what is ahead of it is slow. It is as long as a thread waits for a connection to the database;
# a machine that stands still for a moment refuses nobody.
WAIT_SECONDS = 5.0
RETRY_SECONDS = "2"


class Places:
    """Who is in the process.

    Args:
        threads: Of the server, in this process.
        at_once: How many requests are worked on; as many uploads are taken besides, and as many threads stay free.
    """

    def __init__(self, *, threads: int, at_once: int) -> None:
        self._lock = threading.Lock()
        self._free = threads - at_once
        self._uploads = at_once
        # Bodies that take their time leave half of the places to requests without one.
        self._arriving = threading.Semaphore(self._free // 2)
        self._turns = threading.Semaphore(at_once)
        self._mine = threading.local()

    def enter(self, *, upload: bool, receive: Callable[[], object] | None = None) -> bool:
        """Take a place, take the body in and wait for the turn to work; False when there is no place, or the turn does not come.

        Args:
            upload: Whether it needs no turn, and a place of those for uploads.
            receive: Takes the body in.
        """
        # One thread answers one request: what its last one left behind ends here, whatever became of it.
        self.leave()
        with self._lock:
            if self._free < 1 or (upload and self._uploads < 1):
                return False
            self._free -= 1
            self._uploads -= upload
        self._mine.upload = upload
        entered = False
        try:
            # Its sender decides how long a body takes: it keeps nobody from work.
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
    """Refuses with 503 what there is no place for. Absent where the number of threads is not known."""

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
            # Whoever sent it is gone: that is no failure of ours.
            return answer(MalformedBody("The body ended too early."), request)
        if not entered:
            request.META[ROUTE_KEY] = "overloaded"
            refusal = answer(Overloaded(headers={"Retry-After": RETRY_SECONDS}), request)
            # Django logs a 503 as an error: a rush would fill the log with what the access log has already.
            refusal._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
            return refusal
        sending = False
        try:
            response = self.get_response(request)
            # What is still to be sent keeps its thread, and so its place, until the last byte.
            sending = response.streaming
        finally:
            self._places.end_turn(upload=upload)
            if not sending:
                self._places.leave()
        return response

    def _finished(self, **_kwargs: Any) -> None:
        self._places.leave()


def _body_of(request: HttpRequest) -> Callable[[], object] | None:
    """Return what reads the body and keeps it for the views; None when there is none."""
    return (lambda: request.body) if _length(request) else None


def _length(request: HttpRequest) -> str:
    """Return the length of the body as it is stated; nothing where there is none to read."""
    length = request.META.get("CONTENT_LENGTH") or ""
    return "" if length == "0" else length


def _is_upload(request: HttpRequest) -> bool:
    """Tell whether a body may take as long as its sender likes: it is a form with files, or longer than one that is read in one go."""
    length = _length(request)
    large = length.isascii() and length.isdigit() and (len(length) > len(str(bounds.GIB)) or int(length) > bounds.JSON_BODY_BYTES)
    # Without a body it is an ordinary request, whatever it calls itself: it waits for its turn.
    return large or (bool(length) and request.META.get("CONTENT_TYPE", "").lower().startswith("multipart/"))

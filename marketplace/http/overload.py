"""Load shedding: an overloaded process refuses requests at once with 503 and `Retry-After`.

The server gives each request to a thread and queues requests while no thread is free. The application cannot see that queue, in which
clients under overload wait ever longer for responses that they have given up on. So a process has more threads than it works with
(`GRANIAN_BLOCKING_THREADS`): `REQUESTS_AT_ONCE` of them work, as many stay free to refuse requests and to serve health checks, and
in the others requests wait for a slot to work. A request beyond that is refused within a millisecond.

Slow clients do not occupy slots: a request releases its slot while its body arrives, unless a proxy has buffered it. Incoming bodies,
uploads and streamed responses each have a limit of their own, of which one client address can hold half. Nor does a slow file
store, or the inspection of an uploaded file: a request releases its slot while it waits for either, and the number of requests that wait
for each is limited.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from marketplace.api.problems import problem_response
from marketplace.core.database import release_connection
from marketplace.core.errors import Overloaded
from marketplace.storage.base import Awaited, wait_context

from .client_address import client_network
from .monitoring import ROUTE_KEY
from .request_body import RequestBody, is_upload

# A request is refused if it has waited this long for a slot. It equals the default of DATABASE_POOL_TIMEOUT,
# and is long enough to bridge a short pause of the machine.
WAIT_SECONDS = 5.0
RETRY_SECONDS = "2"


class CallerLimit:
    """A limit of concurrent work in this process, for each caller and, unless `total` is None, for all callers together."""

    def __init__(self, *, per_caller: int, total: int | None = None) -> None:
        self._per_caller, self._total = per_caller, total
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def acquire(self, caller: str) -> bool:
        """Count one more for a caller; return False if a limit is reached."""
        with self._lock:
            free = self._held[caller] < self._per_caller and (self._total is None or self._held.total() < self._total)
            if free:
                self._held[caller] += 1
        return free

    def release(self, caller: str) -> None:
        """Undo one `acquire` of the caller."""
        with self._lock:
            self._held -= Counter([caller])


class ConcurrencyLimiter:
    """The capacity of a process: admits requests and gives them slots to work.

    Args:
        threads: Number of server threads of this process.
        at_once: Number of slots. As many uploads can be received in addition, and as many threads stay free.
    """

    def __init__(self, *, threads: int, at_once: int) -> None:
        admitted = threads - at_once
        self._admitted = CallerLimit(per_caller=admitted, total=admitted)
        self._bodies, self._uploads, self._streams = map(_half_per_caller, (admitted // 2, at_once, admitted // 2))
        waiting = max(1, admitted // 4)
        self._waiting = {"service": CallerLimit(per_caller=waiting, total=waiting), "inspection": _half_per_caller(waiting)}
        self._slots = threading.Semaphore(at_once)
        # What the current request of each thread holds.
        self._local = threading.local()

    def enter(self, caller: str, *, upload: bool, slow_body: bool) -> bool:
        """Admit the request of this thread, and wait for a slot unless it is an upload; return False if it must be refused."""
        # In case `request_finished` was not sent for the thread's previous request.
        self.leave()
        self._local.held, self._local.has_slot, self._local.caller = ExitStack(), False, caller
        # The limit of all requests comes last, so that a burst of slow bodies that are refused anyway does not use it up.
        limits = [*([self._uploads] if upload else [self._bodies] if slow_body else []), self._admitted]
        entered = all(self._hold(limit, caller) for limit in limits)
        if entered and not upload:
            entered = self._local.has_slot = self._slots.acquire(timeout=WAIT_SECONDS)
        if not entered:
            self.leave()
        return entered

    def keep_for_streaming(self, caller: str) -> bool:
        """Keep this thread for a streamed response; return False if there are too many."""
        return self._hold(self._streams, caller)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Release the slot and the database connections while this thread waits for its client."""
        release_connection()
        paused = self._local.has_slot
        self.release_slot()
        try:
            yield
        finally:
            if paused:
                self._slots.acquire()
                self._local.has_slot = True

    @contextmanager
    def wait_for(self, what: Awaited) -> Iterator[None]:
        """Release the slot while this thread waits for another service, or for the inspection of a file.

        Raises:
            Overloaded: too many requests wait for it already, or too many of this caller.
        """
        if not self._local.has_slot:
            # Uploads have a limit of their own, and a request that inspects a file reads it from the store meanwhile.
            yield
            return
        limit, caller = self._waiting[what], self._local.caller
        with self.pause():
            if not limit.acquire(caller):
                # For pages too, which show it as a message.
                raise Overloaded(
                    "Too many requests are waiting. Try again in a few seconds.",
                    headers={"Retry-After": RETRY_SECONDS},
                )
            try:
                yield
            finally:
                limit.release(caller)

    def release_slot(self) -> None:
        """Release the slot; the thread is kept until `leave`."""
        if self._local.has_slot:
            self._local.has_slot = False
            self._slots.release()

    def leave(self) -> None:
        """Release everything that this thread holds."""
        if hasattr(self._local, "held"):
            self.release_slot()
            self._local.held.close()

    def _hold(self, limit: CallerLimit, caller: str) -> bool:
        held = limit.acquire(caller)
        if held:
            self._local.held.callback(limit.release, caller)
        return held


def _half_per_caller(most: int) -> CallerLimit:
    return CallerLimit(per_caller=max(1, most // 2), total=most)


class OverloadMiddleware:
    """Refuses requests with 503 if the process has no capacity left. Not used if the number of threads is unknown."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not (settings.SERVER_THREADS and settings.REQUESTS_AT_ONCE):
            raise MiddlewareNotUsed
        self.get_response = get_response
        self.limiter = ConcurrencyLimiter(threads=settings.SERVER_THREADS, at_once=settings.REQUESTS_AT_ONCE)
        request_finished.connect(lambda **_kwargs: self.limiter.leave(), weak=False, dispatch_uid=("http.overload", id(self)))

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        body, caller = request.META.get("wsgi.input"), client_network(request)
        # There is a `RequestBody` only if there is a body, whatever the Content-Type.
        slow_body = body if isinstance(body, RequestBody) and not body.buffered else None
        if not self.limiter.enter(caller, upload=slow_body is not None and is_upload(request.META), slow_body=slow_body is not None):
            return _refusal(request)
        if slow_body:
            slow_body.waiting = self.limiter.pause
        streaming, token = False, wait_context.set(self.limiter.wait_for)
        try:
            response = self.get_response(request)
            if response.streaming:
                # A streamed response keeps its thread until the last byte is sent.
                streaming = self.limiter.keep_for_streaming(caller)
                if not streaming:
                    # Made first, because closing the response ends the request, and with it the request's id.
                    refusal = _refusal(request)
                    response.close()
                    response = refusal
        finally:
            wait_context.reset(token)
            self.limiter.release_slot()
            if not streaming:
                self.limiter.leave()
        return response


def _refusal(request: HttpRequest) -> HttpResponse:
    request.META[ROUTE_KEY] = "overloaded"
    refusal = problem_response(Overloaded(headers={"Retry-After": RETRY_SECONDS}), request)
    # Django would log each 503 as an error; they are in the access log.
    refusal._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
    return refusal

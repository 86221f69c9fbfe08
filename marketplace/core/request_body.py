"""Deadlines for request bodies: a sender has so many seconds, and more only for as long as its bytes keep coming."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from math import inf
from threading import Thread
from typing import Any

from . import bounds

# Bytes that are there already, as behind a proxy that buffers, arrive within this time.
AT_HAND_SECONDS = 0.05
# What is read of a body that no view wanted: as much as the proxy in `deploy/` buffers; and how long each block of it may take.
DISCARDED_BYTES, BLOCK_BYTES, DISCARD_SECONDS = 2 * bounds.MIB, 64 * bounds.KIB, 0.5


class RequestBody:
    """A WSGI input stream whose reads time out.

    The server has no timeout for bodies, and a thread that reads from it cannot be interrupted. So another thread reads, and is left to
    itself when the time is over; it ends with the connection.

    Args:
        stream: The server's `wsgi.input`.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._waited = 0.0
        self._late = False
        self.taken = 0
        # Entered while the body is not at hand.
        self.waiting: Callable[[], AbstractContextManager[None]] = nullcontext

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; see PEP 3333.

        Raises:
            TimeoutError: the body has taken longer than `bounds.BODY_SECONDS`, and arrives at less than `bounds.BODY_BYTES_A_SECOND`.
        """
        return self._in_time(self._stream.read, size)

    def readline(self, size: int = -1) -> bytes:
        """Return the next line; see PEP 3333. Raises what `read` raises."""
        return self._in_time(self._stream.readline, size)

    def discard(self) -> None:
        """Read the rest of a body that no view wanted, unless it is long or slow.

        A connection that is closed with unread bytes is reset. A proxy that is still sending then answers 502 instead of passing the
        response on, and after some of these takes the node for broken.
        """
        left = DISCARDED_BYTES
        with suppress(TimeoutError):
            while left > 0 and (block := self._in_time(self._stream.read, min(left, BLOCK_BYTES), most=DISCARD_SECONDS)):
                left -= len(block)

    def _in_time(self, method: Callable[[int], bytes], size: int, most: float = inf) -> bytes:
        began = time.monotonic()
        seconds = min(most, bounds.BODY_SECONDS + (self.taken + max(size, 0)) / bounds.BODY_BYTES_A_SECOND - self._waited)
        self._late = self._late or seconds <= 0
        if self._late:
            raise TimeoutError
        block: Future[bytes] = Future()
        Thread(target=_run, args=(block, method, size), daemon=True).start()
        try:
            taken = self._result(block, seconds)
        except TimeoutError:
            self._late = True
            raise
        self._waited += time.monotonic() - began
        self.taken += len(taken)
        return taken

    def _result(self, block: "Future[bytes]", seconds: float) -> bytes:
        try:
            return block.result(AT_HAND_SECONDS)
        except TimeoutError:
            if block.done():
                raise
            with self.waiting():
                return block.result(max(seconds - AT_HAND_SECONDS, 0))


def _run(block: "Future[bytes]", method: Callable[[int], bytes], size: int) -> None:
    try:
        block.set_result(method(size))
    except Exception as error:  # noqa: BLE001 - raised again in the thread that waits
        block.set_exception(error)

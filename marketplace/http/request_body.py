"""Request bodies, with a minimum speed."""

import re
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.conf import settings

from marketplace.core import bounds

from .client_address import is_from_proxy

# The size of a read, after which the speed is checked.
BLOCK_BYTES = 16 * bounds.KIB
# How much of an unread body is discarded, and how much of one that the proxy in `deploy/` has buffered.
DISCARDED_BYTES = 2 * bounds.MIB
DISCARDED_BUFFERED_BYTES = 16 * bounds.MIB
# How many threads discard at a time.
DISCARDING_THREADS = 4
_discarding = threading.Semaphore(DISCARDING_THREADS)


class RequestBody:
    """A WSGI input stream that raises `TimeoutError` if the body arrives too slowly.

    Only the request's own thread reads, and it blocks until data arrives: the server has no timeout, and a read left
    pending in another thread stops the whole process (granian 2.8).

    Args:
        stream: The server's `wsgi.input`.
        buffered: Whether a proxy has received the whole body already.
    """

    def __init__(self, stream: Any, *, buffered: bool = False) -> None:
        self._stream = stream
        self._waited = 0.0
        self.buffered = buffered
        self.received = 0
        # A context that is entered while a read waits for the body.
        self.waiting: Callable[[], AbstractContextManager[None]] = nullcontext

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; see PEP 3333.

        Raises:
            TimeoutError: the body has taken longer than `bounds.BODY_SECONDS`, and arrives at less than `bounds.BODY_BYTES_A_SECOND`.
        """
        blocks = []
        with self.waiting():
            while size and (block := self._timed_read(self._stream.read, BLOCK_BYTES if size < 0 else min(size, BLOCK_BYTES))):
                blocks.append(block)
                size -= len(block)
        return b"".join(blocks)

    def readline(self, size: int = -1) -> bytes:
        """Return the next line; see PEP 3333. Raises what `read` raises."""
        with self.waiting():
            return self._timed_read(self._stream.readline, size)

    def discard(self) -> None:
        """Read and discard the rest of a body from a trusted proxy, up to a limit; call it once the response is sent.

        A connection that is closed with unread bytes is reset. A proxy that is still sending then responds 502 instead of passing the
        response on, and after several of these considers the node down. A proxy that has the response closes the connection.
        """
        if not _discarding.acquire(blocking=False):
            return
        try:
            for _ in range(0, DISCARDED_BUFFERED_BYTES if self.buffered else DISCARDED_BYTES, BLOCK_BYTES):
                if not self._stream.read(BLOCK_BYTES):
                    break
        finally:
            _discarding.release()

    def _timed_read(self, method: Callable[[int], bytes], size: int) -> bytes:
        if self._waited > bounds.BODY_SECONDS and self.received < self._waited * bounds.BODY_BYTES_A_SECOND:
            raise TimeoutError
        began = time.monotonic()
        taken = method(size)
        self._waited += time.monotonic() - began
        self.received += len(taken)
        return taken


def is_upload(environ: dict[str, Any]) -> bool:
    """Tell whether a request sends a multipart form to one of `settings.UPLOAD_PATHS`."""
    is_form = environ.get("CONTENT_TYPE", "").strip().lower().startswith("multipart/")
    return is_form and re.match(settings.UPLOAD_PATHS, environ.get("PATH_INFO", "")) is not None


def is_buffered(environ: dict[str, Any]) -> bool:
    """Tell whether a trusted proxy has buffered this request's body; uploads are not buffered."""
    return is_from_proxy(environ) and not is_upload(environ)

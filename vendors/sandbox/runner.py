"""The parent's side of the sandbox: starts the child, serves the byte ranges that it asks for, and reads its verdict."""

import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from django.conf import settings

from marketplace.core.errors import DependencyUnavailable, UnsupportedType
from marketplace.core.objects.base import ObjectStore

from ..uploads.errors import FileRejected
from . import replies
from .replies import Broken
from .source import DONE, HEAD, READ, STRETCH_BYTES

# Looks are short; more at once than there are processors only makes each slower.
CHILDREN = max(2, os.cpu_count() or 1)
WAIT_SECONDS = 60

T = TypeVar("T")
ReadAt = Callable[[int, int], bytes]
_slots = threading.BoundedSemaphore(CHILDREN)
logger = logging.getLogger(__name__)


class Limits(NamedTuple):
    """How long a job may take."""

    cpu_seconds: int
    wall_seconds: float


def look(job: str, *, read_at: ReadAt, size: int, limits: Limits, interpret: Callable[[dict[str, Any], list[bytes]], T]) -> T:
    """Return what `interpret` makes of what the child found and of the bytes that it made.

    Raises:
        UnsupportedType: the content is none of the types that the job takes.
        FileRejected: it is damaged or hostile, or the child did not survive it.
        DependencyUnavailable: too many files are being looked into, or no child can be started.
    """
    if not _slots.acquire(timeout=WAIT_SECONDS):
        raise DependencyUnavailable("Too many files are being checked at the moment.")
    try:
        reply, blobs = _converse(job, read_at, size, limits)
        if reply.outcome == "accepted":
            return _interpreted(interpret, reply.facts, blobs)
    except Broken as error:
        logger.warning("a %s job on %d bytes broke: %s", job, size, error)
        raise FileRejected("Checking it took more time or memory than any honest file needs.", reason="limits_exceeded") from error
    finally:
        _slots.release()
    match reply.outcome:
        case "unsupported":
            raise UnsupportedType(reply.reason)
        case "rejected":
            raise FileRejected(reply.reason, reason="damaged_or_unsafe")
        case _:
            logger.warning("a %s job on %d bytes crashed:\n%s", job, size, reply.reason)
            raise FileRejected("Its parser could not make sense of it.", reason="unreadable")


def reader_of(store: ObjectStore, key: str) -> ReadAt:
    """Return a function that reads stretches of a stored object."""

    def read_at(offset: int, length: int) -> bytes:
        return b"".join(store.read(key, offset, offset + length))

    return read_at


def reader_of_bytes(content: bytes) -> ReadAt:
    """Return a function that reads stretches of bytes at hand."""

    def read_at(offset: int, length: int) -> bytes:
        return content[offset : offset + length]

    return read_at


def _interpreted(interpret: Callable[[dict[str, Any], list[bytes]], T], facts: dict[str, Any], blobs: list[bytes]) -> T:
    try:
        return interpret(facts, blobs)
    except (KeyError, TypeError, ValueError) as error:
        # Our own children never say it: a file speaks for this one.
        raise Broken(f"its facts make no sense: {error!r}") from error


def _converse(job: str, read_at: ReadAt, size: int, limits: Limits) -> tuple[replies.Reply, list[bytes]]:
    with _child(job, size, limits) as line:
        while True:
            kind, offset, length = HEAD.unpack(line.take(HEAD.size))
            if kind == DONE:
                break
            if kind != READ or length > STRETCH_BYTES or offset + length > size:
                raise Broken(f"it asked for {kind!r} {offset} {length}")
            content = read_at(offset, length)
            if len(content) != length:
                raise DependencyUnavailable("The stored file cannot be read at the moment.")
            line.give(content)
        if length > replies.VERDICT_BYTES:
            raise Broken(f"its verdict has {length} bytes")
        reply = replies.parse(line.take(length))
        return reply, [line.take(each) for each in reply.blobs]


class _Line:
    """What we hear from the child and tell it, until its time is up: it may hang, or keep others waiting in its name."""

    def __init__(self, end: socket.socket, seconds: float) -> None:
        self._end = end
        self._until = time.monotonic() + seconds

    def take(self, count: int) -> bytes:
        content = bytearray(count)
        view = memoryview(content)
        while view:
            self._bound()
            try:
                taken = self._end.recv_into(view)
            except OSError as error:
                raise Broken(f"nothing was heard from it: {error!r}") from error
            if not taken:
                raise Broken("it ended early")
            view = view[taken:]
        return bytes(content)

    def give(self, content: bytes) -> None:
        self._bound()
        try:
            self._end.sendall(content)
        except OSError as error:
            raise Broken(f"it does not listen: {error!r}") from error

    def _bound(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise Broken("it took too long")
        self._end.settimeout(left)


@contextmanager
def _child(job: str, size: int, limits: Limits) -> Iterator[_Line]:
    """Start the child in an empty folder with an empty environment; it is dead when the block is left."""
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryDirectory(prefix="look-", ignore_cleanup_errors=True) as folder:
        with theirs:
            child = _start([job, str(size), str(limits.cpu_seconds)], folder, theirs)
        try:
            yield _Line(ours, limits.wall_seconds)
        finally:
            # With all that it started; it is not waited for yet, so the number is still its own.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _start(words: list[str], folder: str, end: socket.socket) -> subprocess.Popen[bytes]:
    environment = {
        "PYTHONPATH": str(settings.BASE_DIR),
        # As we do: libraries that only the child loads would otherwise be compiled again for each file.
        "PYTHONDONTWRITEBYTECODE": "1" if sys.dont_write_bytecode else "",
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        # One thread: each would reserve memory that the limit counts.
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        return subprocess.Popen(  # noqa: S603 - our own module; nothing of the upload is in the command
            [sys.executable, "-P", "-s", "-m", "vendors.sandbox.worker", *words],
            cwd=folder,
            env=environment,
            stdin=end.fileno(),
            stdout=end.fileno(),
            stderr=subprocess.DEVNULL,
            # Its own group, so that what it starts dies with it.
            start_new_session=True,
        )
    except OSError as error:
        raise DependencyUnavailable("Files cannot be checked at the moment.") from error

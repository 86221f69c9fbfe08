"""The parent's side of the sandbox: starts the child, serves the byte ranges that it asks for, and reads its verdict."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from django.conf import settings

from marketplace.core.errors import DependencyUnavailable, UnsupportedType
from marketplace.http.overload import CallerLimit
from marketplace.storage.base import ObjectStorage, waiting_for

from ..errors import FileRejected
from . import replies
from .replies import ChildFailed
from .source import DONE, MESSAGE_HEAD, RANGE_BYTES, READ

# The most children of this process at once; the processes of a node do not know of each other's. Inspections are short and bound by the
# CPU, so more than one per processor gains nothing.
MAX_CHILDREN = max(2, os.cpu_count() or 1)
# Seconds to wait for a slot: longer than one task takes; the wait and the task together stay below nginx's 600 s.
WAIT_SECONDS = 270
# The most children for the files of one sender.
MAX_CHILDREN_OF_SENDER = max(1, MAX_CHILDREN // 2)
# For a file store that takes longer for a read, of a MiB at most, the time limits are too short.
SLOW_READ_SECONDS = 0.04
# How many times, 10 ms apart, to check whether a child that has closed its end of the connection has exited.
ENDING_POLLS = 10
ROOT_REFUSED = "Uploaded files are not inspected, because this process runs as root."
ROOT_HINT = "Run the service as another user, as its image does. Only where nothing but tests run, set INSPECT_AS_ROOT to true."

T = TypeVar("T")
ReadAt = Callable[[int, int], bytes]
_slots, _slot_freed = CallerLimit(per_caller=MAX_CHILDREN_OF_SENDER, total=MAX_CHILDREN), threading.Condition()
logger = logging.getLogger(__name__)


class Limits(NamedTuple):
    """The limits of a task in seconds: CPU time of the child, and time until its verdict."""

    cpu_seconds: int
    wall_seconds: float


def run_in_sandbox(
    task: str,
    *,
    read_at: ReadAt,
    size: int,
    limits: Limits,
    interpret: Callable[[dict[str, Any], list[bytes]], T],
    sender: str = "",
    options: Mapping[str, Any] | None = None,
) -> T:
    """Run a task (`worker.TASKS`) in a child process; return what `interpret` returns for the reported result and the bytes that the child produced.

    `interpret` raises KeyError, TypeError or ValueError where the child's result makes no sense. `sender` identifies whose file it is; it is
    empty for commands, jobs and reviewers, which together count as one sender. `options` are JSON values for the arguments of the task's `run`; the caller limits their size.

    Raises:
        UnsupportedType: the content is of no type that the task supports.
        FileRejected: it is damaged or hostile, or the child crashed or exceeded its limits.
        DependencyUnavailable: too many children are running, this process is root, the child cannot be started or was killed from outside, or the
            file store is too slow.
        Overloaded: too many requests wait for an inspection.
    """
    if refused_as_root():
        logger.error("%s %s", ROOT_REFUSED, ROOT_HINT)
        raise DependencyUnavailable("Files cannot be checked at the moment.")
    try:
        # The request does not count as active while it waits for a slot and for the child.
        with waiting_for("inspection"), _slot(sender):
            verdict, blobs = _exchange([task, str(size), str(limits.cpu_seconds), json.dumps(options or {})], read_at, size, limits)
            if verdict.outcome == "accepted":
                return _interpreted(interpret, verdict.result, blobs)
    except ChildFailed as error:
        logger.warning("the task %s on %d bytes failed: %s", task, size, error)
        raise FileRejected(
            "The file could not be checked: that took more time or memory than is allowed, or failed. Simplify or split it, or export it again.",
            reason="limits_exceeded",
        ) from error
    match verdict.outcome:
        case "unsupported":
            raise UnsupportedType(verdict.reason)
        case "too much":
            raise FileRejected(verdict.reason, reason="limits_exceeded")
        case "rejected":
            raise FileRejected(verdict.reason, reason="damaged_or_unsafe")
        case _:
            logger.warning("the task %s on %d bytes crashed:\n%s", task, size, verdict.reason)
            raise FileRejected("The file could not be read. Export it again and upload the new file.", reason="unreadable")


@contextmanager
def _slot(sender: str) -> Iterator[None]:
    """Wait until one more child may run for the sender."""
    with _slot_freed:
        free = _slot_freed.wait_for(lambda: _slots.acquire(sender), WAIT_SECONDS)
    if not free:
        raise DependencyUnavailable("Too many files are being checked at the moment.")
    try:
        yield
    finally:
        with _slot_freed:
            _slots.release(sender)
            _slot_freed.notify_all()


def refused_as_root() -> bool:
    """Tell whether this process runs as root and the settings do not allow it to inspect files."""
    return not settings.INSPECT_AS_ROOT and os.geteuid() == 0


def reader_of(storage: ObjectStorage, key: str) -> ReadAt:
    """Return a function that reads byte ranges of a stored object."""
    return lambda offset, length: b"".join(storage.read(key, offset, offset + length))


def reader_of_bytes(content: bytes) -> ReadAt:
    """Return a function that reads byte ranges of bytes in memory."""
    return lambda offset, length: content[offset : offset + length]


def _interpreted(interpret: Callable[[dict[str, Any], list[bytes]], T], result: dict[str, Any], blobs: list[bytes]) -> T:
    try:
        return interpret(result, blobs)
    except (KeyError, TypeError, ValueError) as error:
        # Our code in the child never reports this: a hostile file has taken the child over.
        raise ChildFailed(f"its result makes no sense: {error!r}") from error


def _exchange(arguments: list[str], read_at: ReadAt, size: int, limits: Limits) -> tuple[replies.Verdict, list[bytes]]:
    with _child(arguments, limits.wall_seconds) as connection:
        while True:
            kind, offset, length = MESSAGE_HEAD.unpack(connection.receive(MESSAGE_HEAD.size))
            if kind == DONE:
                break
            if kind != READ or length > RANGE_BYTES or offset + length > size:
                raise ChildFailed(f"it asked for {kind!r} {offset} {length}")
            with connection.store_read():
                content = read_at(offset, length)
            if len(content) != length:
                raise DependencyUnavailable("The stored file cannot be read at the moment.")
            connection.send(content)
        if length > replies.VERDICT_BYTES:
            raise ChildFailed(f"its verdict has {length} bytes")
        verdict = replies.parse(connection.receive(length))
        return verdict, [connection.receive(blob_size) for blob_size in verdict.blob_sizes]


class _Connection:
    """The connection to the child, with one deadline for everything: a hostile child may hang or answer byte by byte."""

    def __init__(self, ours: socket.socket, seconds: float) -> None:
        self._socket = ours
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._reads, self._read_seconds = 0, 0.0

    @contextmanager
    def store_read(self) -> Iterator[None]:
        """Count the time of a read of the file store."""
        began = time.monotonic()
        yield
        self._reads, self._read_seconds = self._reads + 1, self._read_seconds + time.monotonic() - began

    @property
    def waited_for_store(self) -> bool:
        """Tell whether the time is up because the file store is slow, which says nothing about the file."""
        return time.monotonic() >= self._deadline and self._read_seconds > max(self._seconds / 2, self._reads * SLOW_READ_SECONDS)

    def receive(self, count: int) -> bytes:
        content = bytearray(count)
        view = memoryview(content)
        while view:
            self._set_timeout()
            try:
                received = self._socket.recv_into(view)
            except OSError as error:
                raise ChildFailed(f"it cannot be read from: {error!r}") from error
            if not received:
                raise ChildFailed("it ended early")
            view = view[received:]
        return bytes(content)

    def send(self, content: bytes) -> None:
        self._set_timeout()
        try:
            self._socket.sendall(content)
        except OSError as error:
            raise ChildFailed(f"it cannot be written to: {error!r}") from error

    def _set_timeout(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise ChildFailed("it took too long")
        self._socket.settimeout(left)


@contextmanager
def _child(arguments: list[str], wall_seconds: float) -> Iterator[_Connection]:
    """Start the child in an empty folder with a minimal environment; kill it when the block is left."""
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryDirectory(prefix="inspect-", ignore_cleanup_errors=True) as folder:
        with theirs:
            child = _start(arguments, folder, theirs)
        connection = _Connection(ours, wall_seconds)
        try:
            yield connection
        except ChildFailed as error:
            if _was_killed(child):
                logger.warning("the task %s on %s bytes was killed from outside, as the system does when memory runs out", *arguments[:2])
                raise DependencyUnavailable("Files cannot be checked at the moment.") from error
            if connection.waited_for_store:
                logger.warning("the file store was too slow for the task %s on %s bytes", *arguments[:2])
                raise DependencyUnavailable("The stored file cannot be read fast enough at the moment.") from error
            raise
        finally:
            # The whole process group. The child has not been waited for, so its process id cannot have been reused.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _was_killed(child: subprocess.Popen[bytes]) -> bool:
    """Tell whether the system or an operator has killed the child, which says nothing about the file.

    The child's own limits end it by other signals, unless a hostile file has taken it over: it can ignore SIGXCPU, and is killed a second
    later. Its sender may then send the file again, which `MAX_CHILDREN_OF_SENDER` bounds.
    """
    for _ in range(ENDING_POLLS):
        # It is not reaped, so that its process id is not reused before its group is killed.
        ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None:
            return ended.si_code == os.CLD_KILLED and ended.si_status in {signal.SIGKILL, signal.SIGTERM}
        time.sleep(0.01)
    return False


def _start(arguments: list[str], folder: str, theirs: socket.socket) -> subprocess.Popen[bytes]:
    environment = {
        "PYTHONPATH": str(settings.BASE_DIR),
        # Inherited, so that libraries which only the child imports are not compiled again for each file.
        "PYTHONDONTWRITEBYTECODE": "1" if sys.dont_write_bytecode else "",
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        # Each further thread would reserve memory that counts towards the limit.
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        return subprocess.Popen(  # noqa: S603 - our own module; names from an upload are in the command as JSON only
            [sys.executable, "-P", "-s", "-m", "vendors.sandbox.worker", *arguments],
            cwd=folder,
            env=environment,
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            # A process group of its own, so that processes which it starts are killed with it.
            start_new_session=True,
        )
    except OSError as error:
        raise DependencyUnavailable("Files cannot be checked at the moment.") from error

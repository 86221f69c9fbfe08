"""The parent's side: starts the child, hands it the bytes that it asks for, and takes its verdict."""

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from django.conf import settings

from marketplace.core.errors import DependencyUnavailable, UnsupportedType
from marketplace.core.objects.base import ObjectStore

from ..uploads.errors import FileRejected
from .source import DONE, HEAD, READ, STRETCH_BYTES

# Looks are short; more at once than there are processors only makes each slower.
CHILDREN = max(2, os.cpu_count() or 1)
WAIT_SECONDS = 60
VERDICT_BYTES = 4 * 2**20
BLOB_BYTES = 64 * 2**20

ReadAt = Callable[[int, int], bytes]
_slots = threading.BoundedSemaphore(CHILDREN)
logger = logging.getLogger(__name__)


class Limits(NamedTuple):
    """How long a job may take."""

    cpu_seconds: int
    wall_seconds: int


class Broken(Exception):
    """The child ended, or spoke, otherwise than it should."""


def look(job: str, *, read_at: ReadAt, size: int, limits: Limits) -> tuple[dict[str, Any], list[bytes]]:
    """Return what the child found, and the bytes that it made.

    Raises:
        UnsupportedType: the content is none of the types that the job takes.
        FileRejected: it is damaged or hostile, or the child did not survive it.
        DependencyUnavailable: too many files are being looked into.
    """
    if not _slots.acquire(timeout=WAIT_SECONDS):
        raise DependencyUnavailable("Too many files are being checked at the moment.")
    try:
        verdict, blobs = _converse(job, read_at, size, limits)
    except (Broken, BrokenPipeError) as error:
        logger.warning("a %s job on %d bytes broke: %s", job, size, error)
        raise FileRejected("Checking it took more time or memory than any honest file needs.", reason="limits_exceeded") from error
    finally:
        _slots.release()
    match verdict.get("outcome"):
        case "accepted":
            return verdict.get("facts") or {}, blobs
        case "unsupported":
            raise UnsupportedType(str(verdict["reason"]))
        case "rejected":
            raise FileRejected(str(verdict["reason"]), reason="damaged_or_unsafe")
        case _:
            logger.warning("a %s job on %d bytes crashed:\n%s", job, size, verdict.get("reason"))
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


def _converse(job: str, read_at: ReadAt, size: int, limits: Limits) -> tuple[dict[str, Any], list[bytes]]:
    with _child(job, size, limits) as (to_child, from_child):
        while True:
            kind, offset, length = HEAD.unpack(_exactly(from_child, HEAD.size))
            if kind == DONE:
                break
            if kind != READ or length > STRETCH_BYTES or offset + length > size:
                raise Broken(f"it asked for {kind!r} {offset} {length}")
            content = read_at(offset, length)
            if len(content) != length:
                raise DependencyUnavailable("The stored file cannot be read at the moment.")
            to_child.write(content)
            to_child.flush()
        if length > VERDICT_BYTES:
            raise Broken(f"its verdict has {length} bytes")
        verdict = _verdict(_exactly(from_child, length))
        return verdict, [_exactly(from_child, each) for each in verdict.get("blobs", [])]


def _verdict(text: bytes) -> dict[str, Any]:
    """Read what the child says; one that a file has taken over may say anything."""
    try:
        verdict = json.loads(text)
    except ValueError as error:
        raise Broken("its verdict is no JSON") from error
    sizes = verdict.get("blobs", []) if isinstance(verdict, dict) else None
    if not isinstance(sizes, list) or not all(isinstance(size, int) and 0 <= size <= BLOB_BYTES for size in sizes):
        raise Broken("its verdict has another shape")
    if sum(sizes) > BLOB_BYTES or not isinstance(verdict.get("facts"), dict | None):
        raise Broken("its verdict has another shape")
    return dict(verdict)


@contextmanager
def _child(job: str, size: int, limits: Limits) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Start the child in an empty folder with an empty environment; it is dead when the block is left."""
    with tempfile.TemporaryDirectory(prefix="look-") as folder:
        environment = {
            "PYTHONPATH": str(settings.BASE_DIR),
            # As we do: libraries that only the child loads would otherwise be compiled again for each file.
            "PYTHONDONTWRITEBYTECODE": "1" if sys.dont_write_bytecode else "",
            "TMPDIR": folder,
            "LANG": "C.UTF-8",
            # One thread: each would reserve memory that the limit counts.
            "OPENBLAS_NUM_THREADS": "1",
        }
        child = subprocess.Popen(  # noqa: S603 - our own module; nothing of the upload is in the command
            [sys.executable, "-P", "-s", "-m", "vendors.sandbox.worker", job, str(size), str(limits.cpu_seconds)],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Its own group, so that what it starts dies with it.
            start_new_session=True,
        )
        clock = threading.Timer(limits.wall_seconds, _kill, [child])
        clock.daemon = True
        clock.start()
        try:
            # Pipes were asked for, so they are there.
            assert child.stdin is not None  # noqa: S101
            assert child.stdout is not None  # noqa: S101
            yield child.stdin, child.stdout
        finally:
            clock.cancel()
            _kill(child)
            _close(child)


def _kill(child: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(child.pid, 9)
    except (ProcessLookupError, PermissionError):
        # It is gone already.
        return


def _close(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except BrokenPipeError:
            continue
    child.wait()


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    content = pipe.read(count)
    if len(content) != count:
        raise Broken("it ended early")
    return content

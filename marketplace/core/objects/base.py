"""What a store of files must do; `local` and `s3` do it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

BLOCK_BYTES = 256 * 1024
_SEGMENT = re.compile(r"[a-z0-9][a-z0-9._-]*")


class ObjectMissing(Exception):
    """No object is stored under the key."""


def check_key(key: str) -> str:
    """Return the key, or stop: a key that is not of our own making is a fault of the caller, never input."""
    if not is_key(key):
        raise ValueError(f"not an object key: {key!r}")
    return key


def is_key(key: str) -> bool:
    """Tell whether we could have made the key: a folder or a bucket may hold what others put there."""
    return len(key) <= 200 and all(_SEGMENT.fullmatch(segment) for segment in key.split("/"))


@dataclass(frozen=True)
class Unfinished:
    """What a writer that was killed left behind; nobody can read it, and it takes up room.

    Args:
        name: What operators see.
        since: When it was begun, or last written to.
        remove: Removes it; one that is gone meanwhile is no error.
    """

    name: str
    since: datetime
    remove: Callable[[], None]


class ObjectWriter(Protocol):
    """An object on its way in: nothing is visible under its key before `commit`."""

    def write(self, chunk: bytes) -> None:
        """Append bytes."""

    def write_object(self, key: str, start: int, end: int) -> None:
        """Append the bytes `start` up to, not including, `end` of a stored object; a store that can copies them by itself.

        Raises:
            ObjectMissing: nothing is stored under the key.
        """

    def commit(self) -> None:
        """Make the object visible and durable under its key; an object that was there is replaced as a whole."""

    def abort(self) -> None:
        """Leave nothing behind. Calling it after `commit`, or twice, does nothing."""


class ObjectStore(Protocol):
    """Files by key. Keys are ours (`deliverables/<id>`, `previews/<id>`), never a client's words.

    A store that cannot be reached, or is full, raises `core.errors.DependencyUnavailable`.
    """

    def create(self, key: str, *, content_type: str = "application/octet-stream") -> ObjectWriter:
        """Begin an object."""

    def read(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to, not including, `end` in blocks of at most 256 KiB.

        Raises:
            ObjectMissing: nothing is stored under the key; raised before the first block.
        """

    def size(self, key: str) -> int:
        """Return the size in bytes.

        Raises:
            ObjectMissing: nothing is stored under the key.
        """

    def fingerprint(self, key: str) -> str:
        """Return a short text that is another one once the object was written again; the object is not read for it.

        Raises:
            ObjectMissing: nothing is stored under the key.
        """

    def etag(self, key: str) -> str | None:
        """Return the validator, with its quotes, that the store itself sends with the object; None where it serves nobody.

        Raises:
            ObjectMissing: nothing is stored under the key.
        """

    def delete(self, key: str) -> None:
        """Remove the object; one that is not there is no error."""

    def keys(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """Yield the key of each object under `prefix` (a folder with its slash, such as `previews/`), and when it was written."""

    def unfinished(self) -> Iterator[Unfinished]:
        """Yield what is on its way in, or was when its writer was killed: tell them apart by their age."""

    def presigned_url(self, key: str, *, seconds: int, filename: str, content_type: str) -> str | None:
        """Return a link at which the store itself serves the object as a download, None when we must serve it."""

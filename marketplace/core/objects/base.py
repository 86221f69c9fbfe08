"""What a store of files must do; `local` and `s3` do it."""

from collections.abc import Iterator
from typing import Protocol


class ObjectMissing(Exception):
    """No object is stored under the key."""


class ObjectWriter(Protocol):
    """An object on its way in: nothing is visible under its key before `commit`."""

    def write(self, chunk: bytes) -> None:
        """Append bytes."""

    def commit(self) -> None:
        """Make the object visible and durable under its key."""

    def abort(self) -> None:
        """Leave nothing behind. Calling it after `commit`, or twice, does nothing."""


class ObjectStore(Protocol):
    """Files by key. Keys are ours (`deliverables/<id>`, `previews/<id>`), never a client's words."""

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

    def delete(self, key: str) -> None:
        """Remove the object; one that is not there is no error."""

    def presigned_url(self, key: str, *, seconds: int, filename: str, content_type: str) -> str | None:
        """Return a link at which the store itself serves the object as a download, None when we must serve it."""

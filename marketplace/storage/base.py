"""The base of both file storages, on local disk and on S3: what Django's storages lack, and how a request waits for them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, BinaryIO, Self

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage

from marketplace.core.errors import DependencyUnavailable

# Returns the context in which the present request waits; `marketplace.http.overload` sets it.
waiting: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar("waiting", default=nullcontext)


BLOCK_BYTES = 256 * 1024
_SEGMENT = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True)
class Stored:
    """Bytes `start` up to, not including, `end` of a stored file."""

    store: "ObjectStorage"
    key: str
    start: int
    end: int


# What a file or an answer is put together from, in order.
Segment = bytes | Stored


@dataclass(frozen=True)
class Unfinished:
    """What a killed writer left behind. Nobody can read it, but it takes up space.

    Args:
        name: Its name for operators.
        since: When it was begun or last written to.
        remove: Removes it; does nothing if it is gone.
    """

    name: str
    since: datetime
    remove: Callable[[], None]


class ObjectStorage(Storage):
    """A storage of private files under keys of our own, such as `deliverables/<id>`.

    A file is invisible until it is complete. `with storage.open(key, "wb") as file` streams one in: it is stored at the end of the
    block, and not at all if the block raises. Methods raise `FileNotFoundError` where there is no such file, and
    `DependencyUnavailable` where the storage cannot be used.
    """

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return the name itself: keys are never reused."""
        return check_key(name)

    def save(self, name: str | None, content: Any, max_length: int | None = None) -> str:
        """Store a file; one of the same name is replaced as a whole."""
        with self.request():
            return super().save(name, content, max_length)

    def save_bytes(self, key: str, content: bytes, content_type: str = "application/octet-stream") -> None:
        """Store a small file."""
        file = ContentFile(content)
        file.content_type = content_type  # type: ignore[attr-defined]  # django-storages reads it, as of Django's uploaded files
        self.save(key, file)

    def delete(self, name: str) -> None:
        """Delete a file; does nothing where there is none."""
        with self.request():
            super().delete(check_key(name))

    def size(self, name: str) -> int:
        """Return the size in bytes."""
        with self.request():
            return super().size(name)

    def read(self, key: str, start: int = 0, end: int | None = None) -> "Blocks":
        """Return the bytes from `start` up to, not including, `end`, in blocks of at most 256 KiB."""
        raise NotImplementedError

    def download(self, key: str, file: BinaryIO) -> None:
        """Write a whole stored file to an open one."""
        file.writelines(self.read(key))

    def compose(self, key: str, segments: Sequence[Segment], *, content_type: str) -> None:
        """Store segments, one after another, as one file."""
        with self.open(key, "wb") as file:
            for segment in segments:
                for block in [segment] if isinstance(segment, bytes) else self.read(segment.key, segment.start, segment.end):
                    file.write(block)

    def fingerprint(self, key: str) -> str:
        """Return a short text that changes when the file is written again; the file is not read for it."""
        raise NotImplementedError

    def etag(self, key: str) -> str | None:
        """Return the ETag, with its quotes, that the storage sends with the file, None where it serves no files."""
        raise NotImplementedError

    def keys(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """Yield key and time of the last change of each file under a folder, given with its slash, such as `previews/`."""
        raise NotImplementedError

    def unfinished(self) -> Iterator[Unfinished]:
        """Yield files that are being written, or were when their writer was killed; their age tells which."""
        raise NotImplementedError

    def presigned_url(self, key: str, *, seconds: int, filename: str, content_type: str) -> str | None:
        """Return an address at which the storage itself serves the file as a download, None where it serves no files."""
        raise NotImplementedError

    def request(self) -> AbstractContextManager[None]:
        """Return the context in which one request to the storage is made."""
        return storage_errors()


class ObjectFile(File[bytes]):
    """A file on its way into a storage."""

    def discard(self) -> None:
        """Leave nothing behind of a file that is not complete."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                self.close()
        finally:
            self.discard()


class Blocks:
    """The content of a file, in blocks. The file is closed at the end, by `close`, and when this is dropped unread.

    Args:
        open_file: Opens it.
        length: How many bytes to read; all when left out.
        errors: The context in which it is opened and read.
    """

    def __init__(self, open_file: Callable[[], Any], length: int | None, errors: Callable[[], AbstractContextManager[None]]) -> None:
        self._file: Any = None
        self._left = length
        self._errors = errors
        with errors():
            # Created after this object, it is also finalised after it, when both are garbage.
            self._file = open_file()

    def __iter__(self) -> "Blocks":
        return self

    def __next__(self) -> bytes:
        wanted = BLOCK_BYTES if self._left is None else min(BLOCK_BYTES, self._left)
        with self._errors():
            block: bytes = self._file.read(wanted) if wanted > 0 else b""
        if not block:
            self.close()
            raise StopIteration
        if self._left is not None:
            self._left -= len(block)
        return block

    def close(self) -> None:
        """Close the file."""
        self._left = 0
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        self.close()


def check_key(key: str) -> str:
    """Return the key.

    Raises:
        ValueError: it is none of ours; keys never come from clients.
    """
    if not is_key(key):
        raise ValueError(f"not an object key: {key!r}")
    return key


def is_key(key: str) -> bool:
    """Return whether the key can be ours: a folder or a bucket may contain files of others."""
    return len(key) <= 200 and all(_SEGMENT.fullmatch(segment) for segment in key.split("/"))


@contextmanager
def storage_errors() -> Iterator[None]:
    """Raise `DependencyUnavailable` in place of an error of the operating system, except for a missing file."""
    try:
        yield
    except FileNotFoundError:
        raise
    except NotADirectoryError as error:
        raise FileNotFoundError(*error.args) from error
    except OSError as error:
        raise DependencyUnavailable("The file store cannot be used at the moment.") from error

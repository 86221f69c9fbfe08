"""The base class of the storages of uploaded files."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, BinaryIO, Literal

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage

from marketplace.core.errors import DependencyUnavailable

# What a request waits for: the file store or another service, or the inspection of an uploaded file.
Awaited = Literal["service", "inspection"]

# A function that returns the context in which a request waits without counting as active; `marketplace.http.overload` sets it for each
# request.
wait_context: ContextVar[Callable[[Awaited], AbstractContextManager[None]]] = ContextVar(
    "wait_context", default=lambda _what: nullcontext()
)


def waiting_for(what: Awaited) -> AbstractContextManager[None]:
    """Return a context in which a request waits for this without counting as active."""
    return wait_context.get()(what)


BLOCK_BYTES = 256 * 1024
_KEY_PART = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True)
class StoredRange:
    """The bytes of a stored file from `start` up to, not including, `end`."""

    storage: "ObjectStorage"
    key: str
    start: int
    end: int


# A part of a composed file or response.
Segment = bytes | StoredRange


@dataclass(frozen=True)
class UnfinishedFile:
    """An incomplete file, whose writer is active or was killed; it cannot be read, but takes up space.

    Args:
        since: Time when it was begun or last written to.
        remove: Deletes it; does nothing if it no longer exists.
    """

    name: str
    since: datetime
    remove: Callable[[], None]


class ObjectStorage(Storage):
    """A storage of private files under generated keys, such as `deliverables/<id>`.

    A file is invisible until it is complete. `with storage.open(key, "wb") as file` writes one, which is stored at the end of the
    block, and discarded if the block raises. Methods raise `FileNotFoundError` if there is no such file, and
    `DependencyUnavailable` if the storage cannot be used.
    """

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return the name itself: a file stored under it is replaced."""
        return check_key(name)

    def save(self, name: str | None, content: Any, max_length: int | None = None) -> str:
        """Store a file, replacing an existing one atomically."""
        with self.using_store():
            return super().save(name, content, max_length)

    def save_bytes(self, key: str, content: bytes, content_type: str = "application/octet-stream") -> None:
        """Store a small file."""
        file = ContentFile(content)
        file.content_type = content_type  # type: ignore[attr-defined]  # django-storages reads it, as with Django's uploaded files
        self.save(key, file)

    def delete(self, name: str) -> None:
        """Delete a file; do nothing if it does not exist."""
        with self.using_store():
            super().delete(check_key(name))

    def size(self, name: str) -> int:
        with self.using_store():
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
        """Return a short text that changes when other content is stored under the key, without reading the file."""
        raise NotImplementedError

    def etag(self, key: str) -> str | None:
        """Return the quoted ETag that the storage sends with the file, None if it serves no files."""
        return None

    def keys_with_times(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """Yield the key and modification time of each file under a prefix such as `previews/`."""
        raise NotImplementedError

    def unfinished(self) -> Iterator[UnfinishedFile]:
        """Yield incomplete files, of active and of killed writers; their age tells which."""
        raise NotImplementedError

    def presigned_url(self, key: str, *, seconds: int, filename: str, content_type: str) -> str | None:
        """Return a URL at which the storage serves the file as a download, None if it serves no files."""
        return None

    def using_store(self) -> AbstractContextManager[None]:
        """Return the context in which requests to the storage are made."""
        return storage_errors()


class ObjectFile(File[bytes]):
    """A file that is being written to a storage."""

    def discard(self) -> None:
        """Delete the file if it is not complete."""
        raise NotImplementedError

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                self.close()
        finally:
            self.discard()


class Blocks:
    """An iterator over a file's blocks. The file is closed at the end, by `close`, and when the iterator is garbage-collected.

    Args:
        open_file: Opens the file.
        length: Number of bytes to read; None for all.
        errors: The context in which the file is opened and read.
    """

    def __init__(self, open_file: Callable[[], Any], length: int | None, errors: Callable[[], AbstractContextManager[None]]) -> None:
        self._file: Any = None
        self._left = length
        self._errors = errors
        with errors():
            # Created after this object, so that the garbage collector finalises it after `__del__` has closed it.
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
        self._left = 0
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        self.close()


def check_key(key: str) -> str:
    """Return the key.

    Raises:
        ValueError: it is not a valid key; keys never come from clients.
    """
    if not is_key(key):
        raise ValueError(f"not an object key: {key!r}")
    return key


def is_key(key: str) -> bool:
    """Tell whether the key has our format; a folder or bucket may contain other files."""
    return len(key) <= 200 and all(_KEY_PART.fullmatch(part) for part in key.split("/"))


@contextmanager
def storage_errors() -> Iterator[None]:
    """Turn errors of the operating system into `DependencyUnavailable`, except for missing files."""
    try:
        yield
    except FileNotFoundError:
        raise
    except NotADirectoryError as error:
        raise FileNotFoundError(*error.args) from error
    except OSError as error:
        raise DependencyUnavailable("The file store cannot be used at the moment.") from error

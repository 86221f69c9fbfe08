"""Files in one folder of this machine: staged beside their place, durable before they are visible."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ..errors import DependencyUnavailable
from ..ids import new_id
from .base import BLOCK_BYTES, ObjectMissing, Unfinished, check_key, is_key

STAGING = ".staging"
# No upload takes a day; a part this old was left by a process that was killed.
STALE_SECONDS = 24 * 3600


class LocalStore:
    """An `ObjectStore` under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self, key: str, *, content_type: str = "application/octet-stream") -> "LocalWriter":
        """Begin an object."""
        with _store_errors():
            return LocalWriter(self.root, check_key(key))

    def read(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to `end`; the file is opened at once, so that a missing one is told at once."""
        with _store_errors(key):
            return _Blocks(self.root / check_key(key), start, end)

    def size(self, key: str) -> int:
        """Return the size in bytes."""
        with _store_errors(key):
            return (self.root / check_key(key)).stat().st_size

    def fingerprint(self, key: str) -> str:
        """Return size, time of the last write and number of the file."""
        with _store_errors(key):
            found = (self.root / check_key(key)).stat()
        return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ino}"

    def etag(self, key: str) -> None:
        """Return nothing: the folder serves nobody."""

    def delete(self, key: str) -> None:
        """Remove the object; one that is not there is no error."""
        with _store_errors(), suppress(FileNotFoundError):
            (self.root / check_key(key)).unlink()

    def keys(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """Yield the files of a folder and of those in it."""
        with _store_errors():
            for path in (self.root / prefix).rglob("*"):
                key = path.relative_to(self.root).as_posix()
                # It may be deleted meanwhile.
                with suppress(FileNotFoundError):
                    if is_key(key) and path.is_file():
                        yield key, _written_at(path)

    def unfinished(self) -> Iterator[Unfinished]:
        """Yield the parts that have a name: the system removes the others with their writer."""
        with _store_errors():
            for path in (self.root / STAGING).glob("*.part"):
                with suppress(FileNotFoundError):
                    yield Unfinished(f"{STAGING}/{path.name}", _written_at(path), partial(_discard, path))

    def presigned_url(self, key: str, *, seconds: int, filename: str, content_type: str) -> str | None:
        """Return None: we serve the files ourselves."""
        return None


class LocalWriter:
    """An object on its way in. Where the system has nameless files, a killed process leaves nothing behind."""

    def __init__(self, root: Path, key: str) -> None:
        self._root = root
        self._target = root / key
        self._staging = root / STAGING
        _make_folder(self._staging)
        self._part: Path | None = None
        self._fd = self._open()

    def _open(self) -> int:
        nameless = getattr(os, "O_TMPFILE", 0)
        if nameless:
            # Not every file system has them (NFS, some overlays).
            with suppress(OSError):
                return os.open(self._staging, nameless | os.O_RDWR, 0o600)
        _sweep(self._staging)
        self._part = self._staging / f"{new_id()}.part"
        return os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0), 0o600)

    def write(self, chunk: bytes) -> None:
        """Append bytes."""
        view = memoryview(chunk)
        with _store_errors():
            while view:
                view = view[os.write(self._fd, view) :]

    def write_object(self, key: str, start: int, end: int) -> None:
        """Append a part of a stored object."""
        for block in LocalStore(self._root).read(key, start, end):
            self.write(block)

    def commit(self) -> None:
        """Make the object visible and durable."""
        with _store_errors():
            os.fsync(self._fd)
            _make_folder(self._target.parent)
            named = self._part or self._give_name()
            self._close()
            named.replace(self._target)
            self._part = None
            _sync_folder(self._target.parent)

    def _give_name(self) -> Path:
        self._part = self._staging / f"{new_id()}.part"
        folder = os.open(self._staging, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # A folder descriptor makes Python use linkat, which alone can follow /proc's link to the nameless file.
            os.link(f"/proc/self/fd/{self._fd}", self._part.name, dst_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)
        return self._part

    def abort(self) -> None:
        """Leave nothing behind."""
        with _store_errors():
            # The name first: some file systems report a full disk only when a file is closed.
            if self._part is not None:
                self._part.unlink(missing_ok=True)
                self._part = None
            self._close()

    def _close(self) -> None:
        # It is closed even where closing fails.
        descriptor, self._fd = self._fd, -1
        if descriptor >= 0:
            os.close(descriptor)


class _Blocks:
    """An open file read in blocks; closes itself at the end, when closed, and when dropped unread."""

    def __init__(self, path: Path, start: int, end: int | None) -> None:
        # Unbuffered: a block is one read.
        self._file = path.open("rb", buffering=0)
        self._file.seek(start)
        self._left = (os.fstat(self._file.fileno()).st_size if end is None else end) - start

    def __iter__(self) -> "_Blocks":
        return self

    def __next__(self) -> bytes:
        with _store_errors():
            block = self._file.read(min(BLOCK_BYTES, self._left)) if self._left > 0 and not self._file.closed else b""
        if not block:
            self.close()
            raise StopIteration
        self._left -= len(block)
        return block

    def close(self) -> None:
        self._file.close()

    def __del__(self) -> None:
        # Opening may have failed before there was a file.
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()


@contextmanager
def _store_errors(key: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if key and error.errno in {errno.ENOENT, errno.ENOTDIR}:
            raise ObjectMissing(key) from error
        raise DependencyUnavailable("The file store cannot be used at the moment.") from error


def _discard(part: Path) -> None:
    with _store_errors():
        part.unlink(missing_ok=True)


def _written_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep(staging: Path) -> None:
    """Remove what killed processes left, at most a day late."""
    limit = time.time() - STALE_SECONDS
    for part in staging.glob("*.part"):
        # Another process may sweep at the same time.
        with suppress(FileNotFoundError):
            if part.stat().st_mtime < limit:
                part.unlink()

"""A storage in a local folder: files are staged in the same file system, and durable before they are visible."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from marketplace.core.ids import new_id

from .base import Blocks, ObjectFile, ObjectStorage, UnfinishedFile, check_key, is_key, storage_errors

STAGING = ".staging"


class LocalStorage(ObjectStorage, FileSystemStorage):
    """Stores files in the folder `location`, `MEDIA_ROOT` by default; the application serves them."""

    def path(self, name: str) -> str:
        return super().path(check_key(name))

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        with storage_errors():
            return LocalFile(Path(self.location), self.path(name)) if mode == "wb" else File(FileIO(self.path(name)))

    def _save(self, name: str, content: File[bytes]) -> str:
        with self.open(name, "wb") as file:
            for chunk in content.chunks():
                file.write(chunk)
        return name

    def read(self, key: str, start: int = 0, end: int | None = None) -> Blocks:
        return Blocks(partial(_open_at, self.path(key), start), None if end is None else end - start, storage_errors)

    def fingerprint(self, key: str) -> str:
        with storage_errors():
            found = Path(self.path(key)).stat()
        return f"{found.st_size}-{found.st_mtime_ns}-{found.st_ino}"

    def keys_with_times(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        root = Path(self.location)
        with storage_errors():
            for path in (root / prefix).rglob("*"):
                key = path.relative_to(root).as_posix()
                # The file may be deleted in the meantime.
                with suppress(FileNotFoundError):
                    if is_key(key) and path.is_file():
                        yield key, _written_at(path)

    def unfinished(self) -> Iterator[UnfinishedFile]:
        """Yield the named files in the staging folder; unnamed ones vanish with their writer."""
        with storage_errors():
            for path in (Path(self.location) / STAGING).glob("*.part"):
                with suppress(FileNotFoundError):
                    yield UnfinishedFile(f"{STAGING}/{path.name}", _written_at(path), partial(_discard, path))


class LocalFile(ObjectFile):
    """A file being written, unnamed (`O_TMPFILE`) until it is complete, so that a killed process leaves nothing behind.

    On file systems without support for it (NFS, some overlays) it has a name in the staging folder, and `sweep_objects` deletes it if its
    writer was killed.
    """

    def __init__(self, root: Path, path: str) -> None:
        super().__init__(None, path)
        self._target = Path(path)
        self._staging = root / STAGING
        self._staged: Path | None = None
        _make_folder(self._staging)
        self._fd = self._create()

    def _create(self) -> int:
        tmpfile_flag = getattr(os, "O_TMPFILE", 0)
        if tmpfile_flag:
            with suppress(OSError):
                return os.open(self._staging, tmpfile_flag | os.O_RDWR, 0o600)
        self._staged = self._staging / f"{new_id()}.part"
        return os.open(self._staged, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)

    def write(self, chunk: Any) -> int:
        view = memoryview(chunk)
        with storage_errors():
            while view:
                view = view[os.write(self._fd, view) :]
        return len(chunk)

    def close(self) -> None:
        with storage_errors():
            os.fsync(self._fd)
            _make_folder(self._target.parent)
            named = self._staged or self._link()
            self._close()
            named.replace(self._target)
            self._staged = None
            _sync_folder(self._target.parent)

    def discard(self) -> None:
        with storage_errors():
            # Unlink first: closing may raise, as some file systems report a full disk only then.
            if self._staged is not None:
                self._staged.unlink(missing_ok=True)
                self._staged = None
            self._close()

    def _link(self) -> Path:
        self._staged = self._staging / f"{new_id()}.part"
        folder = os.open(self._staging, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # A folder descriptor makes Python use linkat, which alone can follow /proc's link to the unnamed file.
            os.link(f"/proc/self/fd/{self._fd}", self._staged.name, dst_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)
        return self._staged

    def _close(self) -> None:
        # A failed close closes the descriptor too.
        descriptor, self._fd = self._fd, -1
        if descriptor >= 0:
            os.close(descriptor)


def _open_at(path: str, start: int) -> FileIO:
    # Unbuffered, so that each block is one read.
    file = FileIO(path)
    file.seek(start)
    return file


def _discard(staged: Path) -> None:
    with storage_errors():
        staged.unlink(missing_ok=True)


def _written_at(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""A disk that can be filled to the byte: a small file system in memory, where we may make one."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Disk:
    """A mounted tmpfs whose size is changed while it is in use."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        self._size = size

    def leave(self, free: int) -> None:
        """Shrink it until this many bytes are left."""
        found = os.statvfs(self.folder)
        used = (found.f_blocks - found.f_bfree) * found.f_frsize
        self._resize(used + max(free, found.f_frsize))

    def restore(self) -> None:
        """Give it its whole size again."""
        self._resize(self._size)

    def _resize(self, size: int) -> None:
        subprocess.run([_mount(), "-o", f"remount,size={size}", self.folder], check=True, capture_output=True)


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Disk | None]:
    """Mount one at the folder for as long as the block lasts; None where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [_mount(), "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        yield None
        return
    try:
        yield Disk(folder, size)
    finally:
        # Lazily: a server that is about to end may still have files open there.
        subprocess.run([shutil.which("umount") or "umount", "--lazy", folder], check=False, capture_output=True)


def _mount() -> str:
    return shutil.which("mount") or "mount"

"""The file as the child sees it: it requests byte ranges from its parent and opens nothing itself."""

import io
import struct
from typing import BinaryIO

from .exceptions import Rejected

# What a message of the child begins with: its kind, an offset, and the number of bytes that are requested or follow.
MESSAGE_HEAD = struct.Struct("<cQI")
READ = b"R"
DONE = b"D"
RANGE_BYTES = 2**20
# The most reads of a file: a fixed number for its header, and one for each 256 bytes, since the parts of honest files are not smaller.
BASE_READS, BYTES_PER_READ = 10_000, 256


class ParentFile(io.RawIOBase):
    """A seekable raw file that requests its bytes from the parent process."""

    def __init__(self, answers: BinaryIO, requests: BinaryIO, size: int) -> None:
        self._answers = answers
        self._requests = requests
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(base + offset, 0)
        return self._position

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]  # typeshed's `WriteableBuffer` is a stub only
        view = memoryview(buffer)
        wanted = min(len(view), self._size - self._position, RANGE_BYTES)
        if wanted <= 0:
            return 0
        self._requests.write(MESSAGE_HEAD.pack(READ, self._position, wanted))
        self._requests.flush()
        content = self._answers.read(wanted)
        view[: len(content)] = content
        self._position += len(content)
        return len(content)


def open_parent_file(answers: BinaryIO, requests: BinaryIO, size: int) -> io.BufferedReader:
    """Return the file with a large read buffer: remote stores are slow for many small requests."""
    return io.BufferedReader(ParentFile(answers, requests, size), RANGE_BYTES)


class ReadLimitedFile:
    """A file of which only a limited number of pieces can be read: a parser in Python would take long for many small ones."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = BASE_READS + size // BYTES_PER_READ
        self.seek = file.seek
        self.tell = file.tell

    def read(self, count: int = -1) -> bytes:
        """Return the next bytes."""
        self._left -= 1
        if self._left < 0:
            raise Rejected("The file is made of too many small parts.")
        return self._file.read(count)

"""Reads an archive as a stream, plain or decompressed in small steps within a budget."""

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

from .entries import FREE_BYTES, RATIO
from .verdicts import Rejected

CHUNK = 2**18
# The most bytes that are unpacked to read a compressed archive. What lies beyond is not counted, and the result says `countedPartly`.
WALK_BYTES = {"tar.gz": 2 * 2**30, "tar.bz2": 2**28, "tar.xz": 2**29}
# A file may be many concatenated streams (bgzip writes one per 64 KiB), but not thousands of empty ones.
STREAMS = 1000
STREAM_BYTES = 2**12
# Enough for the dictionary of `xz -9`.
XZ_MEMORY = 128 * 2**20


class Stream(Protocol):
    """The archive's bytes, forward only."""

    def read(self, count: int) -> bytes:
        """Return `count` bytes, fewer at the end of the archive."""

    def skip(self, count: int) -> bool:
        """Skip bytes; return False where the archive ends before that."""


class WalkedEnough(Exception):
    """The limit of unpacked bytes (WALK_BYTES) is reached."""


class Plain:
    """A file that is not compressed."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size

    def read(self, count: int) -> bytes:
        """Return `count` bytes, fewer at the end of the archive."""
        return self._file.read(count)

    def skip(self, count: int) -> bool:
        """Skip bytes; return False where the archive ends before that."""
        # Seeks instead of reading, so that only the headers of an archive of 5 GiB are read.
        return self._file.seek(count, 1) <= self._size


class Unpacked:
    """A compressed file, unpacked in small steps within WALK_BYTES and RATIO."""

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self._file = file
        walk = WALK_BYTES[name]
        self._allowed = min(RATIO * size + FREE_BYTES, walk)
        self._bomb = self._allowed < walk
        self._new: Callable[[], Any] = {"tar.gz": _Gzip, "tar.bz2": _Bzip2, "tar.xz": _Xz}[name]
        self._unpacker: Any = self._new()
        self._packed = b""
        self._ready = bytearray()
        self._out = 0
        self._streams = 1

    def _more(self) -> bool:
        """Unpack the next chunk; return False at the end of the file."""
        if self._unpacker.eof:
            self._packed = self._unpacker.rest or self._file.read(CHUNK)
            # Streams may be followed by zero padding.
            if not self._packed.strip(b"\0"):
                return False
            self._next_stream()
        elif not self._packed and self._unpacker.hungry:
            self._packed = self._file.read(CHUNK)
            if not self._packed:
                raise EOFError
        content = self._unpacker.unpack(self._packed)
        self._packed = self._unpacker.left
        self._out += len(content)
        if self._out > self._allowed:
            if self._bomb:
                raise Rejected(f"The archive expands to more than {RATIO} times its size.")
            raise WalkedEnough
        self._ready += content
        return True

    def _next_stream(self) -> None:
        self._streams += 1
        if self._streams > STREAMS + self._out // STREAM_BYTES:
            raise Rejected("The archive is made of thousands of empty streams.")
        self._unpacker = self._new()

    def read(self, count: int) -> bytes:
        """Return `count` bytes, fewer at the end of the archive."""
        while len(self._ready) < count and self._more():
            pass
        content = bytes(self._ready[:count])
        del self._ready[:count]
        return content

    def skip(self, count: int) -> bool:
        """Skip bytes; return False where the archive ends before that."""
        while count > len(self._ready):
            count -= len(self._ready)
            self._ready.clear()
            if not self._more():
                return False
        del self._ready[:count]
        return True


class _Gzip:
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(31)

    def unpack(self, packed: bytes) -> bytes:
        return self._zlib.decompress(packed, CHUNK)

    @property
    def left(self) -> bytes:
        return self._zlib.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def rest(self) -> bytes:
        return self._zlib.unused_data

    hungry = True


class _Bzip2:
    def __init__(self) -> None:
        self._inner: Any = bz2.BZ2Decompressor()

    # Unlike zlib's, these decompressors buffer input that they have not consumed.
    left = b""

    def unpack(self, packed: bytes) -> bytes:
        return bytes(self._inner.decompress(packed, CHUNK))

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def rest(self) -> bytes:
        return bytes(self._inner.unused_data)

    @property
    def hungry(self) -> bool:
        return bool(self._inner.needs_input)


class _Xz(_Bzip2):
    def __init__(self) -> None:
        self._inner = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

"""Unpacks a compressed archive in small steps, within a budget."""

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from .entries import FREE_BYTES, MAX_RATIO
from .exceptions import Rejected, rejecting

CHUNK = 2**18
# The most bytes that are unpacked to read a compressed archive. What lies beyond is not counted, and the result says `countedPartly`.
UNPACKED_BYTES = {"tar.gz": 2 * 2**30, "tar.bz2": 2**28, "tar.xz": 2**29}
# A file may be many concatenated streams (bgzip writes one per 64 KiB), but not thousands of empty ones: a fixed number, and one for each 4 KiB.
BASE_STREAMS, BYTES_PER_STREAM = 1000, 2**12
# Enough for the dictionary of `xz -9`. The file objects of gzip, bz2 and lzma have no such limit, nor do all of them refuse trailing data.
XZ_MEMORY = 128 * 2**20
DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    "tar.gz": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "tar.bz2": bz2.BZ2Decompressor,
    "tar.xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY),
}


class UnpackLimitReached(Exception):
    """The limit of unpacked bytes (UNPACKED_BYTES) is reached."""


class Unpacked(io.RawIOBase):
    """The bytes of a compressed file, forward only, within UNPACKED_BYTES and MAX_RATIO."""

    def __init__(self, file: BinaryIO, size: int, format_name: str) -> None:
        self._file = file
        self._allowed = min(MAX_RATIO * size + FREE_BYTES, UNPACKED_BYTES[format_name])
        # Beyond the ratio it is a bomb; beyond the bytes for its format it is only counted partly.
        self._exceeding_is_bomb = self._allowed < UNPACKED_BYTES[format_name]
        self._new_decompressor = DECOMPRESSORS[format_name]
        self._decompressor = self._new_decompressor()
        self._packed = b""
        self._streams = 1
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        """Return True: forward seeking unpacks the bytes between."""
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Unpack up to an offset; return it, or that of the end if it comes first."""
        if whence != io.SEEK_SET or offset < self._position:
            raise io.UnsupportedOperation
        while self._position < offset and self.read(min(CHUNK, offset - self._position)):
            pass
        return self._position

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]  # typeshed's `WriteableBuffer` is a stub only
        view = memoryview(buffer)
        with rejecting("The archive's compression is damaged, or needs more memory than usual."):
            content = self._unpack(min(len(view), CHUNK))
        self._position += len(content)
        if self._position > self._allowed:
            if self._exceeding_is_bomb:
                raise Rejected(f"The archive expands to more than {MAX_RATIO} times its size.")
            raise UnpackLimitReached
        view[: len(content)] = content
        return len(content)

    def _unpack(self, count: int) -> bytes:
        content = b""
        while not content:
            if self._decompressor.eof:
                if not self._next_stream():
                    break
            # bz2 and lzma buffer the input that they have not consumed, zlib gives it back.
            elif not self._packed and getattr(self._decompressor, "needs_input", True):
                self._packed = self._file.read(CHUNK)
                if not self._packed:
                    raise EOFError
            content = self._decompressor.decompress(self._packed, count)
            self._packed = getattr(self._decompressor, "unconsumed_tail", b"")
        return content

    def _next_stream(self) -> bool:
        """Begin the next stream; return False if only zero padding follows."""
        rest = self._decompressor.unused_data
        while not (rest := rest.lstrip(b"\0")):
            rest = self._file.read(CHUNK)
            if not rest:
                return False
        self._streams += 1
        if self._streams > BASE_STREAMS + self._position // BYTES_PER_STREAM:
            raise Rejected("The archive is made of thousands of empty streams.")
        self._decompressor, self._packed = self._new_decompressor(), rest
        return True

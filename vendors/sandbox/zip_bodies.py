"""Checks that a program that reads a zip archive from front to back finds the entries that its directory names, and no others."""

import re
import struct
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from typing import BinaryIO

from .entries import DIGEST_BYTES, EntryCounter
from .exceptions import Rejected
from .zip_directory import ALL32, ZIP64, Directory, Entry, extra_fields, path_of, widened

LOCAL = struct.Struct("<4sHHHHHIIIHH")
STORED, DEFLATED = 0, 8
ENCRYPTED, STREAMED = 0x1, 0x8
# Encryption, a descriptor behind the data, strong encryption, the encoding of the name, a masked header.
MEANINGFUL_FLAGS = ENCRYPTED | STREAMED | 0x40 | 0x800 | 0x2000
# A local header with a method that exists. Random bytes look like one once in three terabytes.
HEADER = re.compile(rb"PK\x03\x04[\x00-\xff]{4}[\x00-\x63]\x00")
HEADER_BYTES = 10
SCAN_BLOCK_BYTES = 2**20
PACKED_BLOCK_BYTES = 2**16
UNPACKED_BLOCK_BYTES = 2**22
# The most of an archive that is digested unpacked; entries beyond are digested as they are packed.
DIGESTED_BYTES = 4 * 2**30

UNNAMED_DATA = "The zip archive holds data between its entries that its directory does not name."


def check_bodies(file: BinaryIO, directory: Directory, places: list[tuple[int, int]], counter: EntryCounter) -> None:
    """Compare the entries before the directory with the directory, and record the digests of their contents.

    `places` are the offset of each entry and its position in the directory.

    Raises:
        Rejected: there are overlaps, gaps, differing headers, or data in which further entries may be found.
    """
    places.sort()
    if (places[0][0] if places else directory.offset) != 0:
        raise Rejected(UNNAMED_DATA)
    unbounded, unpacked = False, 0
    for index, (offset, at) in enumerate(places):
        entry = directory.entry_at(at)
        last = index + 1 == len(places)
        following = directory.offset if last else places[index + 1][0]
        start, wide = _check_header(file, entry, offset)
        end = start + entry.packed
        if end > following:
            raise Rejected("Entries of the zip archive reach into its directory." if last else "Entries of the zip archive overlap.")
        _check_descriptor(file, entry, end, following, wide=wide or max(entry.packed, entry.size) > ALL32)
        # Without the password the end of such an entry is unknown, so nothing after it may look like an entry.
        unbounded |= bool(entry.flags & STREAMED and entry.flags & ENCRYPTED)
        unpacked += entry.size
        body = _Body(file, entry, range(start, end), unpack=unpacked <= DIGESTED_BYTES)
        _check_data(body, following, unbounded=unbounded)
        if not entry.is_folder:
            counter.add_digest(entry.path, entry.size, body.digest)


def _check_header(file: BinaryIO, entry: Entry, offset: int) -> tuple[int, bool]:
    """Compare the local header with the directory; return where the data begins, and whether it has a ZIP64 field."""
    file.seek(offset)
    head = file.read(LOCAL.size)
    if len(head) < LOCAL.size or head[:4] != b"PK\x03\x04":
        raise Rejected("The zip archive's directory points to entries that are not there.")
    _, _, flags, method, _, _, crc, packed, size, name_bytes, extra_bytes = LOCAL.unpack(head)
    name, extra = file.read(name_bytes), extra_fields(file.read(extra_bytes))
    if name != entry.name or path_of(name, entry.flags, extra) != entry.path:
        raise Rejected("An entry of the zip archive has two names.")
    size, packed = widened(extra, size, packed)
    stated = ((crc, entry.crc), (packed, entry.packed), (size, entry.size))
    # Streamed entries state their sizes after the data; in the header they are zero.
    known = not flags & STREAMED
    if (flags ^ entry.flags) & MEANINGFUL_FLAGS or method != entry.method or any(own != other and (known or own) for own, other in stated):
        raise Rejected("An entry of the zip archive is described differently by its own header and by the directory.")
    return offset + LOCAL.size + name_bytes + extra_bytes, ZIP64 in extra


def _check_descriptor(file: BinaryIO, entry: Entry, end: int, following: int, *, wide: bool) -> None:
    """Check that nothing but the data descriptor lies between the data of an entry and the next one."""
    if not entry.flags & STREAMED:
        if end != following:
            raise Rejected(UNNAMED_DATA)
        return
    descriptor = struct.pack("<IQQ" if wide else "<III", entry.crc, entry.packed, entry.size)
    # The signature is optional, but stored data ends where it is found.
    allowed = [b"PK\x07\x08" + descriptor] + ([] if entry.method == STORED else [descriptor])
    file.seek(end)
    if file.read(min(following - end, len(descriptor) + 5)) not in allowed:
        raise Rejected(UNNAMED_DATA)


class _Body:
    """The data of an entry, read once: checked, and digested."""

    def __init__(self, file: BinaryIO, entry: Entry, data: range, *, unpack: bool) -> None:
        self.file, self.entry, self.data = file, entry, data
        self._hash, self._unpack = blake2b(digest_size=DIGEST_BYTES), unpack

    @property
    def digest(self) -> str:
        """The digest of the content; it begins with the method where the packed data was digested."""
        method = "" if self.entry.method == STORED or (self._unpack and self.entry.method == DEFLATED) else f"{self.entry.method}:"
        return method + self._hash.hexdigest()

    def read_as_is(self) -> int:
        """Read and digest the data as it is; return its checksum."""
        crc = 0
        for block in _blocks(self.file, self.data, SCAN_BLOCK_BYTES):
            crc = zlib.crc32(block, crc)
            self._hash.update(block)
        return crc

    def read_deflated(self) -> bool:
        """Unpack and digest the data; return whether it is exactly one deflated stream of the stated size."""
        stream, unpacked, size = zlib.decompressobj(-zlib.MAX_WBITS), 0, self.entry.size
        try:
            for block in _blocks(self.file, self.data, PACKED_BLOCK_BYTES):
                if stream.eof or unpacked > size:
                    return False
                if not self._unpack:
                    self._hash.update(block)
                output = stream.decompress(block, UNPACKED_BLOCK_BYTES)
                unpacked += self._count_and_hash(output)
                while output and not stream.eof and unpacked <= size:
                    output = stream.decompress(stream.unconsumed_tail, UNPACKED_BLOCK_BYTES)
                    unpacked += self._count_and_hash(output)
        except zlib.error:
            return False
        return stream.eof and not stream.unused_data and unpacked == size

    def _count_and_hash(self, output: bytes) -> int:
        if self._unpack:
            self._hash.update(output)
        return len(output)


def _check_data(body: _Body, following: int, *, unbounded: bool) -> None:
    """Refuse data that does not end where the directory says, or in which a program may find another header."""
    file, entry, data = body.file, body.entry, body.data
    streamed, plain = entry.flags & STREAMED, not entry.flags & ENCRYPTED
    deflated = plain and entry.method == DEFLATED
    crc = None if deflated else body.read_as_is()
    if entry.method == STORED and not streamed and not unbounded:
        # Readers skip it by its size.
        return
    if plain and streamed and entry.method not in {STORED, DEFLATED}:
        raise Rejected("An entry of the zip archive has no size before its data, and is not deflated. Pack it again with another program.")
    ends = body.read_deflated() if deflated else (crc == entry.crc or not (plain and streamed))
    if not ends:
        raise Rejected("An entry of the zip archive does not end where its directory says.")
    if (unbounded or not deflated) and _holds_header(file, range(data.start, following)):
        raise Rejected("Data of the zip archive reads as further entries. Pack it again with another program.")


def _blocks(file: BinaryIO, data: range, size: int) -> Iterator[bytes]:
    file.seek(data.start)
    for at in range(data.start, data.stop, size):
        block = file.read(min(size, data.stop - at))
        yield block


def _holds_header(file: BinaryIO, data: range) -> bool:
    carried = b""
    for block in _blocks(file, data, SCAN_BLOCK_BYTES):
        window = carried + block
        if HEADER.search(window):
            return True
        carried = window[-HEADER_BYTES + 1 :]
    return False

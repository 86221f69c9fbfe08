"""Zip archives by their directory: bounded before it is read, checked for tricks, nothing extracted to disk."""

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from .entries import ENTRIES, Tally
from .members import MemberLooks
from .verdicts import Rejected

END = struct.Struct("<4sHHHHIIH")
END64 = struct.Struct("<4sQHHIIQQQQ")
LOCATOR64 = struct.Struct("<4sIQI")
ENTRY = struct.Struct("<4sHHHHHHIIIHHHHHII")
LOCAL = struct.Struct("<4sHHHHHIIIHH")
COMMENT_BYTES = 65_535
DIRECTORY_BYTES = 64 * 2**20
STORED, DEFLATED = 0, 8
# Deflate cannot do better (zlib's own figure), whatever the content.
DEFLATE_RATIO = 1032
ENCRYPTED, UTF8 = 0x1, 0x800
SYMLINK, TYPE_MASK = 0o120000, 0o170000
ALL32 = 0xFFFFFFFF
ALL16 = 0xFFFF


class Entry(NamedTuple):
    """One line of the directory."""

    path: str
    flags: int
    method: int
    packed: int
    size: int
    offset: int
    mode: int
    name_bytes: int

    @property
    def folder(self) -> bool:
        """Tell whether it is a folder."""
        return self.path.endswith("/")


class Directory(NamedTuple):
    """Where the directory is, by the end record."""

    entries: int
    length: int
    offset: int


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return the counts, the warnings and what was seen in members worth a look."""
    directory = _find_directory(file, size)
    tally = Tally()
    looks = MemberLooks()
    spans: list[tuple[int, int]] = []
    encrypted = 0
    for entry in _entries(file, directory):
        tally.add(entry.path, entry.size, folder=entry.folder)
        _check_sizes(entry)
        spans.append((entry.offset, entry.offset + LOCAL.size + entry.name_bytes + entry.packed))
        if entry.mode & TYPE_MASK == SYMLINK:
            tally.note("symlink", entry.path)
        elif entry.flags & ENCRYPTED:
            encrypted += 1
            tally.note("encrypted", entry.path)
        elif entry.method in {STORED, DEFLATED} and not entry.folder:
            looks.offer(entry.path, entry.size, entry)
    _check_spans(spans, directory.offset)
    found = tally.technical() | {"encrypted": bool(encrypted)}
    return found | looks.technical(lambda entry, limit: _content(file, entry, limit))


def _find_directory(file: BinaryIO, size: int) -> Directory:
    tail_start = max(size - END.size - COMMENT_BYTES, 0)
    file.seek(tail_start)
    tail = file.read(size - tail_start)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < END.size:
        raise Rejected("The zip archive has no end record: it was cut off.")
    _, disk, first_disk, _, count, length, offset, _ = END.unpack_from(tail, at)
    end = tail_start + at
    if ALL32 in {length, offset} or count == ALL16:
        count, length, offset, end = _zip64(file, end) or (count, length, offset, end)
    if disk not in {0, ALL16} or first_disk not in {0, ALL16}:
        raise Rejected("The zip archive is one of several volumes.")
    if count > ENTRIES:
        raise Rejected(f"The archive has more than {ENTRIES} entries.")
    if length > DIRECTORY_BYTES:
        raise Rejected("The zip archive's directory is larger than 64 MiB.")
    if offset + length > end:
        raise Rejected("The zip archive's directory is not where its end record says.")
    return Directory(count, length, offset)


def _zip64(file: BinaryIO, end: int) -> tuple[int, int, int, int] | None:
    if end < LOCATOR64.size:
        return None
    file.seek(end - LOCATOR64.size)
    signature, _, at, _ = LOCATOR64.unpack(file.read(LOCATOR64.size))
    if signature != b"PK\x06\x07":
        return None
    file.seek(min(at, end))
    record = file.read(END64.size)
    if len(record) < END64.size or record[:4] != b"PK\x06\x06":
        raise Rejected("The zip archive's end record points nowhere.")
    _, _, _, _, _, _, _, count, length, offset = END64.unpack(record)
    return count, length, offset, at


def _entries(file: BinaryIO, directory: Directory) -> Iterator[Entry]:
    file.seek(directory.offset)
    block = file.read(directory.length)
    at = 0
    for _ in range(directory.entries):
        if at + ENTRY.size > len(block) or block[at : at + 4] != b"PK\x01\x02":
            raise Rejected("The zip archive's directory is damaged.")
        fields = ENTRY.unpack_from(block, at)
        flags, method, packed, size = fields[3], fields[4], fields[8], fields[9]
        name_bytes, extra_bytes, comment_bytes, attributes, offset = fields[10], fields[11], fields[12], fields[15], fields[16]
        at += ENTRY.size
        name, extra = block[at : at + name_bytes], block[at + name_bytes : at + name_bytes + extra_bytes]
        at += name_bytes + extra_bytes + comment_bytes
        if ALL32 in {packed, size, offset}:
            size, packed, offset = _wide(extra, size, packed, offset)
        path = name.decode("utf-8" if flags & UTF8 else "cp437", "replace")
        yield Entry(path, flags, method, packed, size, offset, attributes >> 16, name_bytes)
    if at != len(block):
        raise Rejected("The zip archive's directory holds more than its end record says.")


def _wide(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Return the three numbers with those that did not fit taken from the ZIP64 field, in its order."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            field = io.BytesIO(extra[at + 4 : at + 4 + length])
            values = [int.from_bytes(field.read(8), "little") if each == ALL32 else each for each in (size, packed, offset)]
            return values[0], values[1], values[2]
        at += 4 + length
    return size, packed, offset


def _check_sizes(entry: Entry) -> None:
    if entry.method == DEFLATED and entry.size > DEFLATE_RATIO * entry.packed + 64:
        raise Rejected("An entry of the zip archive claims to expand more than deflate can.")
    if entry.method == STORED and entry.size != entry.packed and not entry.flags & ENCRYPTED:
        raise Rejected("An entry of the zip archive is stored, yet claims two sizes.")


def _check_spans(spans: list[tuple[int, int]], directory_offset: int) -> None:
    """Refuse entries that share bytes: the way to a bomb that stays small on disk."""
    spans.sort()
    previous = 0
    for start, end in spans:
        if start < previous:
            raise Rejected("Entries of the zip archive overlap.")
        previous = end
    if previous > directory_offset:
        raise Rejected("Entries of the zip archive reach into its directory.")


def _content(file: BinaryIO, entry: Entry, limit: int) -> bytes:
    """Return up to `limit` bytes of an entry; a wrong header or stream makes it unreadable, not the archive."""
    file.seek(entry.offset)
    head = file.read(LOCAL.size)
    if len(head) < LOCAL.size or head[:4] != b"PK\x03\x04":
        raise ValueError("no local header")
    *_, name_bytes, extra_bytes = LOCAL.unpack(head)
    file.seek(entry.offset + LOCAL.size + name_bytes + extra_bytes)
    packed = file.read(min(entry.packed, limit))
    if entry.method == STORED:
        return packed
    return zlib.decompressobj(-15).decompress(packed, limit)

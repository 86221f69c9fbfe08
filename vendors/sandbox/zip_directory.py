"""Reads the central directory of a zip archive: where it is, and the entries that it names."""

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from .entries import MAX_ENTRIES, too_many_entries
from .exceptions import Rejected

END = struct.Struct("<4sHHHHIIH")
END64 = struct.Struct("<4sQHHIIQQQQ")
LOCATOR64 = struct.Struct("<4sIQI")
ENTRY = struct.Struct("<4sHHHHHHIIIHHHHHII")
EXTRA = struct.Struct("<HH")
COMMENT_BYTES = 65_535
DIRECTORY_BYTES = 64 * 2**20
UTF8 = 0x800
ALL32 = 0xFFFFFFFF
ALL16 = 0xFFFF
ZIP64, UNICODE_PATH = 0x0001, 0x7075


class Entry(NamedTuple):
    """An entry of the central directory: `packed` is its size in the archive, `path` its decoded `name`."""

    path: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    mode: int
    name: bytes

    @property
    def is_folder(self) -> bool:
        """Tell whether it is a folder."""
        return self.path.endswith("/")


class Directory(NamedTuple):
    """The bytes of the central directory, its offset, and the number of entries that the end record states."""

    block: bytes
    offset: int
    stated: int

    def entries(self) -> Iterator[tuple[int, Entry]]:
        """Yield the place of each entry in the block, and the entry.

        Raises:
            Rejected: the block does not hold exactly the stated number of entries.
        """
        at = 0
        for _ in range(self.stated):
            entry, end = self._parse(at)
            yield at, entry
            at = end
        if at != len(self.block):
            raise Rejected("The zip archive's directory holds more than its end record says.")

    def entry_at(self, at: int) -> Entry:
        """Return the entry at a place that `entries` has yielded."""
        return self._parse(at)[0]

    def _parse(self, at: int) -> tuple[Entry, int]:
        block = self.block
        if at + ENTRY.size > len(block) or block[at : at + 4] != b"PK\x01\x02":
            raise Rejected("The zip archive's directory is damaged.")
        fields = ENTRY.unpack_from(block, at)
        _, _, _, flags, method, _, _, crc, packed, size, name_bytes, extra_bytes, comment_bytes, _, _, attributes, offset = fields
        at += ENTRY.size
        name, extra = block[at : at + name_bytes], extra_fields(block[at + name_bytes : at + name_bytes + extra_bytes])
        size, packed, offset = widened(extra, size, packed, offset)
        path = path_of(name, flags, extra)
        return Entry(path, flags, method, crc, packed, size, offset, attributes >> 16, name), at + name_bytes + extra_bytes + comment_bytes


def read_directory(file: BinaryIO, size: int) -> Directory:
    """Return the central directory that ends right before the end records.

    Raises:
        Rejected: there is none, it is too large, or programs would disagree on where it is.
    """
    tail_start = max(size - END.size - COMMENT_BYTES, 0)
    file.seek(tail_start)
    tail = file.read(size - tail_start)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < END.size:
        raise Rejected("The zip archive has no end record: it was cut off.")
    _, disk, first_disk, here, count, length, offset, comment_bytes = END.unpack_from(tail, at)
    if at + END.size + comment_bytes != len(tail):
        # Where there are two end records, programs differ in which of them they use.
        raise Rejected("The zip archive does not end where its end record says.")
    if disk not in {0, ALL16} or first_disk not in {0, ALL16} or here != count:
        raise Rejected("The zip archive is one of several volumes.")
    count, length, offset, end = _zip64(file, tail_start + at, count, length, offset)
    if count > MAX_ENTRIES:
        raise too_many_entries()
    if length > DIRECTORY_BYTES:
        raise Rejected("The zip archive's directory is larger than 64 MiB.")
    if offset + length != end:
        # Some programs use the stated offset, others the bytes right before the end record: they would unpack different files.
        raise Rejected("The zip archive's directory is not where its end record says.")
    file.seek(offset)
    return Directory(file.read(length), offset, count)


def extra_fields(extra: bytes) -> dict[int, bytes]:
    """Return the extra fields of an entry by their kind.

    Raises:
        Rejected: one is cut off, or ZIP64 sizes or a Unicode name are there twice.
    """
    found: dict[int, bytes] = {}
    at = 0
    while at + EXTRA.size <= len(extra):
        kind, length = EXTRA.unpack_from(extra, at)
        at += EXTRA.size
        if at + length > len(extra) or (kind in found and kind in {ZIP64, UNICODE_PATH}):
            raise Rejected("The extra fields of an entry of the zip archive are damaged.")
        found[kind] = extra[at : at + length]
        at += length
    return found


def widened(extra: dict[int, bytes], *numbers: int) -> tuple[int, ...]:
    """Return the numbers; those that do not fit into 32 bits are taken from the ZIP64 field, which holds them in this order.

    Raises:
        Rejected: the field is too short.
    """
    field = extra.get(ZIP64)
    if field is None or ALL32 not in numbers:
        return numbers
    if len(field) < 8 * numbers.count(ALL32):
        raise Rejected("The extra fields of an entry of the zip archive are damaged.")
    wide = iter(struct.unpack_from(f"<{numbers.count(ALL32)}Q", field))
    return tuple(next(wide) if number == ALL32 else number for number in numbers)


def path_of(name: bytes, flags: int, extra: dict[int, bytes]) -> str:
    """Return the path of an entry by the name and the extra fields of one of its headers.

    Raises:
        Rejected: an extra field names another file: programs differ in which of the names they use.
    """
    field = extra.get(UNICODE_PATH, b"")
    # The field has the name in UTF-8, and the checksum of the header's name, which is in the code page of the program that packed it.
    if field[:5] == struct.pack("<BI", 1, zlib.crc32(name)) and field[5:] != name:
        other = field[5:]
        if other.isascii() or name.count(b"/") != other.count(b"/") or _extension(name) != _extension(other):
            raise Rejected("An entry of the zip archive has two names.")
        return other.decode("utf-8", "replace")
    if flags & UTF8:
        return name.decode("utf-8", "replace")
    try:
        # macOS writes UTF-8 without setting the flag.
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("cp437")


def _extension(name: bytes) -> bytes:
    return name.rpartition(b".")[2].lower() if b"." in name else b""


def _zip64(file: BinaryIO, end: int, count: int, length: int, offset: int) -> tuple[int, int, int, int]:
    """Return the numbers of the ZIP64 end record if there is one, and the offset of the first end record.

    Most programs use it if it exists; the others read the small record, so both must agree.
    """
    start = end - LOCATOR64.size - END64.size
    file.seek(max(end - LOCATOR64.size, 0))
    signature, _, at, _ = LOCATOR64.unpack(file.read(LOCATOR64.size))
    if signature != b"PK\x06\x07" or end < LOCATOR64.size:
        return count, length, offset, end
    file.seek(max(start, 0))
    record = file.read(END64.size)
    # Some programs look for it at the stated offset, others right before its locator.
    if at != start or record[:4] != b"PK\x06\x06":
        raise Rejected("The zip archive's end record points nowhere.")
    _, _, _, _, _, _, here, count64, length64, offset64 = END64.unpack(record)
    stated = ((count, count64, ALL16), (length, length64, ALL32), (offset, offset64, ALL32))
    if here != count64 or any(small not in {wide, limit} for small, wide, limit in stated):
        raise Rejected("The two end records of the zip archive differ.")
    return count64, length64, offset64, start

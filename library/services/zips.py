"""Uncompressed (STORED) zip archives as a list of segments: headers as bytes, contents as references to the store.

Nothing is compressed and nothing is copied: with the size and CRC-32 known, every header can be written before the
content is read, so that ranges of a 5 GiB archive can be served from its segments. The same contents and time give the same bytes.
Above 4 GiB, the ZIP64 records of APPNOTE 6.3 are used.
"""

import struct
from dataclasses import dataclass
from datetime import UTC, datetime

from marketplace.storage.base import Segment

# The value of a 32-bit field whose actual value is in the ZIP64 record.
_MARKER = 0xFFFFFFFF
_ZIP64_FROM = _MARKER
_UTF8_NAME = 0x0800
# The first time that a zip archive can express, and the number of years from it.
EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)
_YEARS = 128
_VERSION, _VERSION_ZIP64 = 20, 45
_MADE_BY_UNIX = 3 << 8
_REGULAR_FILE_0644 = 0o100644 << 16


@dataclass(frozen=True)
class ZipEntry:
    """A file of the archive; `content` has `size` bytes and the CRC-32 `crc32`."""

    name: str
    size: int
    crc32: int
    content: Segment


def zip_parts(entries: list[ZipEntry], *, at: datetime = EARLIEST) -> list[Segment]:
    """Return the segments of an archive with these entries, in order, all of this time in UTC."""
    time = _time(at)
    parts: list[Segment] = []
    directory = b""
    offset = 0
    for entry in entries:
        header = _local_header(entry, time)
        directory += _directory_header(entry, time, offset)
        parts += [header, entry.content]
        offset += len(header) + entry.size
    parts.append(directory + _end_records(len(entries), len(directory), offset))
    return parts


def _time(at: datetime) -> tuple[int, int]:
    """Return the fields for the time and the date, in steps of two seconds; times that cannot be expressed become the earliest."""
    at = at.astimezone(UTC)
    year = at.year - EARLIEST.year
    if not 0 <= year < _YEARS:
        return _time(EARLIEST)
    return at.hour << 11 | at.minute << 5 | at.second // 2, year << 9 | at.month << 5 | at.day


def _local_header(entry: ZipEntry, time: tuple[int, int]) -> bytes:
    name = entry.name.encode()
    large = entry.size >= _ZIP64_FROM
    # Uncompressed and compressed size.
    extra = struct.pack("<HHQQ", 1, 16, entry.size, entry.size) if large else b""
    size = _field(entry.size)
    version = _VERSION_ZIP64 if large else _VERSION
    fixed = struct.pack("<4sHHHHHLLLHH", b"PK\3\4", version, _UTF8_NAME, 0, *time, entry.crc32, size, size, len(name), len(extra))
    return fixed + name + extra


def _directory_header(entry: ZipEntry, time: tuple[int, int], offset: int) -> bytes:
    name = entry.name.encode()
    large = [value for value in (entry.size, entry.size, offset) if value >= _ZIP64_FROM]
    extra = struct.pack(f"<HH{len(large)}Q", 1, 8 * len(large), *large) if large else b""
    version = _VERSION_ZIP64 if large else _VERSION
    size = _field(entry.size)
    fixed = struct.pack(
        "<4sHHHHHHLLLHHHHHLL",
        b"PK\1\2",
        _MADE_BY_UNIX | version,
        version,
        _UTF8_NAME,
        0,
        *time,
        entry.crc32,
        size,
        size,
        len(name),
        len(extra),
        0,
        0,
        0,
        _REGULAR_FILE_0644,
        _field(offset),
    )
    return fixed + name + extra


def _end_records(count: int, directory_size: int, directory_offset: int) -> bytes:
    records = b""
    if directory_offset >= _ZIP64_FROM:
        end = directory_offset + directory_size
        versions = (_MADE_BY_UNIX | _VERSION_ZIP64, _VERSION_ZIP64)
        records += struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, *versions, 0, 0, count, count, directory_size, directory_offset)
        records += struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    offset = _field(directory_offset)
    return records + struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, count, count, directory_size, offset, 0)


def _field(value: int) -> int:
    """Return the content of a 32-bit field for a value."""
    return _MARKER if value >= _ZIP64_FROM else value

"""Inspects zip archives by their central directory: bounded, checked for known attacks, nothing extracted to disk."""

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from . import containers
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
# The most bytes that are read to check local headers: all headers of small archives, the first ones of large archives.
HEADERS_BYTES = 64 * 2**20
STRETCH_BYTES = 2**20
STORED, DEFLATED = 0, 8
# The best ratio that deflate can reach, by zlib's documentation.
DEFLATE_RATIO = 1032
ENCRYPTED, UTF8 = 0x1, 0x800
SYMLINK, TYPE_MASK = 0o120000, 0o170000
ALL32 = 0xFFFFFFFF
ALL16 = 0xFFFF


class Entry(NamedTuple):
    """An entry of the central directory."""

    path: str
    flags: int
    method: int
    packed: int
    size: int
    offset: int
    mode: int
    name: bytes

    @property
    def folder(self) -> bool:
        """Tell whether it is a folder."""
        return self.path.endswith("/")


class Span(NamedTuple):
    """The byte range of an entry, and the length and hash of its name, which its local header must repeat."""

    start: int
    end: int
    name_bytes: int
    name_hash: int


class Directory(NamedTuple):
    """Number of entries, length and offset of the central directory, as the end record states them."""

    entries: int
    length: int
    offset: int


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return the counts, the warnings, and the technical details of inspected members."""
    directory = _find_directory(file, size)
    tally = Tally(size)
    looks = MemberLooks()
    spans: list[Span] = []
    encrypted = False
    names: set[str] = set()
    for entry in _entries(file, directory):
        tally.add(entry.path, entry.size, folder=entry.folder)
        _check_sizes(entry)
        spans.append(Span(entry.offset, entry.offset + LOCAL.size + len(entry.name) + entry.packed, len(entry.name), hash(entry.name)))
        if (lower := entry.path.lower()) in containers.WANTED:
            names.add(lower)
        if entry.mode & TYPE_MASK == SYMLINK:
            tally.note("symlink", entry.path)
        elif entry.flags & ENCRYPTED:
            encrypted = True
            tally.note("encrypted", entry.path)
        elif entry.method in {STORED, DEFLATED} and not entry.folder and looks.wants(entry.path, entry.size):
            looks.add(entry.path, entry.size, entry)
    spans.sort()
    _check_spans(spans, directory.offset)
    _check_headers(file, spans)
    kind = containers.kind_of(names)
    found = tally.technical() | {"encrypted": encrypted} | ({"container": kind} if kind else {})
    return found | looks.technical(lambda entry, limit: _content(file, entry, limit))


def _find_directory(file: BinaryIO, size: int) -> Directory:
    tail_start = max(size - END.size - COMMENT_BYTES, 0)
    file.seek(tail_start)
    tail = file.read(size - tail_start)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < END.size:
        raise Rejected("The zip archive has no end record: it was cut off.")
    _, disk, first_disk, _, count, length, offset, comment_bytes = END.unpack_from(tail, at)
    if at + END.size + comment_bytes != len(tail):
        # Where there are two end records, programs differ in which of them they use.
        raise Rejected("The zip archive does not end where its end record says.")
    end = tail_start + at
    if ALL32 in {length, offset} or count == ALL16:
        count, length, offset, end = _zip64(file, end) or (count, length, offset, end)
    if disk not in {0, ALL16} or first_disk not in {0, ALL16}:
        raise Rejected("The zip archive is one of several volumes.")
    if count > ENTRIES:
        raise Rejected(f"The archive has more than {ENTRIES} entries.")
    if length > DIRECTORY_BYTES:
        raise Rejected("The zip archive's directory is larger than 64 MiB.")
    if offset + length != end:
        # Some programs use the stated offset, others the bytes right before the end record: they would unpack different files.
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
        yield Entry(_path(name, flags), flags, method, packed, size, offset, attributes >> 16, name)
    if at != len(block):
        raise Rejected("The zip archive's directory holds more than its end record says.")


def _path(name: bytes, flags: int) -> str:
    if flags & UTF8:
        return name.decode("utf-8", "replace")
    try:
        # macOS writes UTF-8 without setting the flag.
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("cp437")


def _wide(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Return the three numbers, those that do not fit into 32 bits taken from the ZIP64 extra field, in its order."""
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


def _check_spans(spans: list[Span], directory_offset: int) -> None:
    """Refuse entries whose byte ranges overlap: overlapping entries make a zip bomb."""
    previous = 0
    for span in spans:
        if span.start < previous:
            raise Rejected("Entries of the zip archive overlap.")
        previous = span.end
    if previous > directory_offset:
        raise Rejected("Entries of the zip archive reach into its directory.")


def _check_headers(file: BinaryIO, spans: list[Span]) -> None:
    """Refuse entries whose local header has another name than the directory: programs differ in which of them they use."""
    read = previous = 0
    for span in spans:
        read += min(span.start - previous, STRETCH_BYTES)
        previous = span.start
        if read > HEADERS_BYTES:
            return
        file.seek(span.start)
        head = file.read(LOCAL.size + span.name_bytes)
        if head[:4] != b"PK\x03\x04":
            raise Rejected("The zip archive's directory points to entries that are not there.")
        # Bytes 26 and 27 are the length of the name.
        if head[26] | head[27] << 8 != span.name_bytes or hash(head[LOCAL.size :]) != span.name_hash:
            raise Rejected("An entry of the zip archive has two names.")


def _content(file: BinaryIO, entry: Entry, limit: int) -> bytes:
    """Return up to `limit` bytes of an entry; raises whatever the parsers raise where its header or stream is damaged."""
    limit = min(limit, entry.size)
    file.seek(entry.offset)
    head = file.read(LOCAL.size)
    *_, name_bytes, extra_bytes = LOCAL.unpack(head)
    file.seek(entry.offset + LOCAL.size + name_bytes + extra_bytes)
    # Enough input for `limit` bytes: deflate enlarges incompressible data by less than a thousandth.
    packed = file.read(min(entry.packed, limit + limit // 1000 + 1024))
    if entry.method == STORED or not limit:
        return packed[:limit]
    return zlib.decompressobj(-15).decompress(packed, limit)

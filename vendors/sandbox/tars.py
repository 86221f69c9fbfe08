"""Tar archives walked header by header, plain or compressed; contents are passed over, never kept."""

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple, Protocol

from .entries import ENTRIES, FREE_BYTES, RATIO, Tally
from .members import MemberLooks
from .skills import FILE_NAME, READ_BYTES
from .verdicts import Rejected, Unsupported

BLOCK = 512
CHUNK = 2**18
# An extended header holds a long name, a few numbers, and what file systems attach.
EXTENDED_BYTES = 2**20
EXTENDED_RECORDS = 256
EXTENDED_HEADERS = ENTRIES
# What is unpacked to walk a compressed archive: beyond it the rest is not counted, and that is said.
WALK_BYTES = {"tar.gz": 2 * 2**30, "tar.bz2": 2**28, "tar.xz": 2**29}
# Files may be many packed streams in a row (bgzip makes one of each 64 KiB), but not of nothing.
STREAMS = 1000
STREAM_BYTES = 2**12
# Enough for the dictionary of `xz -9`.
XZ_MEMORY = 128 * 2**20
SPARSE = "The tar archive holds a sparse file, which may unpack to any size; make it without --sparse."
LINKS = {b"1", b"2"}
DEVICES = {b"3", b"4", b"6"}
EMPTY_TYPES = LINKS | DEVICES | {b"5"}


class Stream(Protocol):
    """The archive's bytes, forward only."""

    def read(self, count: int) -> bytes:
        """Return `count` bytes, fewer at the end."""

    def skip(self, count: int) -> bool:
        """Pass over bytes; False when they are not all there."""


class WalkedEnough(Exception):
    """The budget for unpacking is used up."""


class Header(NamedTuple):
    """One entry's header, extended headers applied."""

    path: str
    size: int
    kind: bytes


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return the counts, the warnings, and the skill that a SKILL.md describes."""
    stream: Stream = _Plain(file, size) if name == "tar" else _Unpacked(file, size, name)
    tally = Tally(size)
    looks = MemberLooks()
    complete = True
    try:
        _walk(stream, tally, looks)
    except WalkedEnough:
        complete = False
    except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise Rejected("The archive's compression is damaged, or needs more memory than usual.") from error
    found = tally.technical() | looks.technical(lambda content, limit: content[:limit])
    return found if complete else found | {"countedPartly": True}


def _walk(stream: Stream, tally: Tally, looks: MemberLooks) -> None:
    first = True
    extended: dict[str, str] = {}
    headers = 0
    while True:
        block = stream.read(BLOCK)
        if not block.strip(b"\0"):
            # Two empty blocks are the end; files cut to one, or to none, are common and whole.
            return
        header = _parse(block, extended, first=first)
        first = False
        padded = -(-header.size // BLOCK) * BLOCK
        if header.kind in b"xgLK":
            headers += 1
            if header.size > EXTENDED_BYTES or headers > EXTENDED_HEADERS:
                raise Rejected("An extended header of the tar archive is larger than 1 MiB, or there are too many.")
            content = stream.read(padded)[: header.size]
            if header.kind != b"g":
                extended |= _extended(header.kind, content)
            continue
        extended = {}
        _note(header, tally)
        if header.kind in EMPTY_TYPES:
            continue
        if header.kind == b"S":
            raise Rejected(SPARSE)
        if looks.wants(header.path, header.size):
            padded -= _keep(stream, header, looks)
        if not stream.skip(padded):
            raise Rejected("The tar archive was cut off inside of an entry.")


def _keep(stream: Stream, header: Header, looks: MemberLooks) -> int:
    """Keep what is looked into later; return how much was read of it."""
    skill = header.path.rsplit("/", 1)[-1].upper() == FILE_NAME
    content = stream.read(min(header.size, READ_BYTES) if skill else header.size)
    looks.add(header.path, header.size, content)
    return len(content)


def _note(header: Header, tally: Tally) -> None:
    folder = header.kind == b"5"
    tally.add(header.path, 0 if header.kind in EMPTY_TYPES else header.size, folder=folder)
    if header.kind in LINKS:
        tally.note("symlink" if header.kind == b"2" else "hardlink", header.path)
    elif header.kind in DEVICES:
        tally.note("device", header.path)


def _parse(block: bytes, extended: dict[str, str], *, first: bool) -> Header:
    if len(block) < BLOCK or not _checksum_holds(block):
        if first:
            raise Unsupported("The content is compressed, or named, like a tar archive but is none.")
        raise Rejected("A header of the tar archive is damaged.")
    size = _number(block[124:136])
    if "size" in extended:
        if not extended["size"].isascii() or not extended["size"].isdigit() or len(extended["size"]) > 15:
            raise Rejected("An entry of the tar archive claims an impossible size.")
        size = int(extended["size"])
    if size < 0 or size >= 2**50:
        raise Rejected("An entry of the tar archive claims an impossible size.")
    name = _text(block[:100])
    prefix = _text(block[345:500]) if block[257:263] == b"ustar\0" else ""
    path = extended.get("path") or (f"{prefix}/{name}" if prefix else name)
    kind = block[156:157]
    # In old archives a folder is a file whose name ends so.
    return Header(path, size, b"5" if kind == b"\0" and path.endswith("/") else kind)


def _checksum_holds(block: bytes) -> bool:
    try:
        stated = _number(block[148:156])
    except Rejected:
        return False
    # The lower half of Adler-32 is one more than the sum of the bytes, modulo 65521: sum() takes twenty times as long.
    summed = zlib.adler32(block) & 0xFFFF
    return summed == (1 + stated + sum(block[148:156]) - 8 * 0x20) % 65521


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        # Base 256, two's complement: the sign is refused by the caller.
        value = int.from_bytes(field[1:], "big")
        return value if field[0] == 0x80 else -1
    digits = field.strip(b"\0 ")
    if not digits:
        return 0
    try:
        return int(digits.split(b"\0")[0], 8)
    except ValueError as error:
        raise Rejected("A header of the tar archive is damaged.") from error


def _text(field: bytes) -> str:
    return field.split(b"\0")[0].decode("utf-8", "replace")


def _extended(kind: bytes, content: bytes) -> dict[str, str]:
    """Return the path and size that an extended header overrides."""
    if kind == b"L":
        return {"path": _text(content)}
    if kind == b"K":
        return {}
    found: dict[str, str] = {}
    at = records = 0
    while at < len(content) and content[at : at + 1].strip(b"\0"):
        records += 1
        digits, space, _ = content[at : at + 20].partition(b" ")
        whole = bool(space) and digits.isdigit() and int(digits) > len(digits) + 1 and at + int(digits) <= len(content)
        if not whole or records > EXTENDED_RECORDS:
            raise Rejected("An extended header of the tar archive is damaged.")
        record = content[at + len(digits) + 1 : at + int(digits) - 1]
        key, _, value = record.partition(b"=")
        if key in {b"path", b"size"}:
            found[key.decode()] = value.decode("utf-8", "replace")
        elif key.startswith(b"GNU.sparse."):
            raise Rejected(SPARSE)
        at += int(digits)
    return found


class _Plain:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size

    def read(self, count: int) -> bytes:
        return self._file.read(count)

    def skip(self, count: int) -> bool:
        # Sought, not read: an archive of 5 GiB takes as long as its headers.
        return self._file.seek(count, 1) <= self._size


class _Unpacked:
    """A compressed file unpacked in small steps, within its budget and its ratio."""

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
        """Unpack a little more; False at the end."""
        if self._unpacker.eof:
            self._packed = self._unpacker.rest or self._file.read(CHUNK)
            # Streams may be followed by padding.
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
        while len(self._ready) < count and self._more():
            pass
        content = bytes(self._ready[:count])
        del self._ready[:count]
        return content

    def skip(self, count: int) -> bool:
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

    # These keep what they did not use themselves.
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

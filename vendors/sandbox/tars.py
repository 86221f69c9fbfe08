"""Inspects tar archives header by header, plain or compressed, without keeping contents."""

import lzma
import zlib
from typing import Any, BinaryIO, NamedTuple

from .entries import ENTRIES, Tally
from .members import MemberLooks
from .skills import FILE_NAME, READ_BYTES
from .streams import Plain, Stream, Unpacked, WalkedEnough
from .verdicts import Rejected, Unsupported

BLOCK = 512
# The largest extended header: a long name, a few numbers, and extended attributes of file systems.
EXTENDED_BYTES = 2**20
EXTENDED_RECORDS = 256
EXTENDED_HEADERS = ENTRIES
SPARSE = "The tar archive holds a sparse file, which may unpack to any size; make it without --sparse."
LINKS = {b"1", b"2"}
DEVICES = {b"3", b"4", b"6"}
EMPTY_TYPES = LINKS | DEVICES | {b"5"}


class Header(NamedTuple):
    """One entry's header, extended headers applied."""

    path: str
    size: int
    kind: bytes


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return the counts, the warnings, and the skill that a SKILL.md describes."""
    stream: Stream = Plain(file, size) if name == "tar" else Unpacked(file, size, name)
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
            # Two zero blocks mark the end. Archives with one or none are common and accepted.
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
    """Read a member that is inspected later; return the number of bytes read."""
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
    # In pre-POSIX archives a folder is a regular file whose name ends with a slash.
    return Header(path, size, b"5" if kind == b"\0" and path.endswith("/") else kind)


def _checksum_holds(block: bytes) -> bool:
    try:
        stated = _number(block[148:156])
    except Rejected:
        return False
    # The lower half of Adler-32 is 1 plus the sum of the bytes, modulo 65521. It is twenty times as fast as sum().
    summed = zlib.adler32(block) & 0xFFFF
    return summed == (1 + stated + sum(block[148:156]) - 8 * 0x20) % 65521


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        # Base-256 encoding in two's complement; the caller refuses negative numbers.
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

"""Inspects fonts: the table directory and a few tables, with bounds. Compressed fonts are unpacked by the sanitizer, never by fontTools."""

import io
import resource
import struct
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import ots

from . import font_tables
from .verdicts import Rejected

FACES = 64
# Larger than any font of an East Asian family.
FONT_BYTES = 64 * 2**20
COMPRESSED_BYTES = 24 * 2**20
# Memory limit of the sanitizer: room for several copies of the largest font.
SANITIZER_BYTES = 256 * 2**20
WOFF = struct.Struct(">4s4sIHHIHHIIIII")
WOFF_TABLE = struct.Struct(">4sIIII")
WOFF2 = struct.Struct(">4s4sIHHIIHHIIIII")
# Indexes in WOFF2's list of known table tags.
GLYF, LOCA, KNOWN_TAG_NONE = 10, 11, 63
NAMES = 32


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return glyph count, axes, names, outlines, and the Unicode ranges with their scripts."""
    if name in {"woff", "woff2"}:
        file = io.BytesIO(sanitized(file.read(COMPRESSED_BYTES + 1)))
        size = file.seek(0, io.SEEK_END)
    offsets = _faces(file, size) if name == "ttc" else [0]
    if size > FONT_BYTES * len(offsets):
        raise Rejected("The font is larger than 64 MiB.")
    faces = [font_tables.facts(file, font_tables.directory(file, size, offset)) for offset in offsets]
    if name != "ttc":
        return faces[0]
    families = sorted({family for face in faces for family in face["familyNames"]})[:NAMES]
    return faces[0] | {"familyNames": families, "glyphCount": max(face["glyphCount"] for face in faces), "faceCount": len(faces)}


def sanitized(content: bytes) -> bytes:
    """Return a web font as a plain OpenType font, as written by OTS, the sanitizer of browsers.

    Raises:
        Rejected: the sanitizer does not accept it, or it is too large.
    """
    if len(content) > COMPRESSED_BYTES:
        raise Rejected("The web font is larger than 24 MiB.")
    _check_web_header(content)
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "given"), Path(folder, "made")
        given.write_bytes(content)
        # It inherits this process's limits, except that of memory, and is in the process group that the parent kills on a timeout.
        outcome = ots.sanitize(
            str(given),
            str(made),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=_limit_sanitizer,
        )
        if outcome.returncode or not made.exists():
            raise Rejected("Browsers refuse this font: the OpenType sanitizer did not accept it.")
        return made.read_bytes()


def _limit_sanitizer() -> None:
    """Limit the sanitizer's memory: it copies a name each time that a font repeats it, so its use is otherwise unbounded."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (SANITIZER_BYTES, SANITIZER_BYTES))


def _check_web_header(content: bytes) -> None:
    """Refuse a web font whose header states more unpacked bytes or tables than a font may have."""
    header = WOFF if content[:4] == b"wOFF" else WOFF2
    if len(content) < header.size:
        raise Rejected("The font was cut off.")
    fields = header.unpack_from(content)
    length, tables, unpacked = fields[2], fields[3], fields[5]
    if length != len(content):
        raise Rejected("The font's length is not what its header says.")
    if not 0 < tables <= font_tables.TABLES or unpacked > FONT_BYTES:
        raise Rejected("The font's header claims more than a font can have.")
    claimed = _woff_claims(content, tables) if header is WOFF else _woff2_claims(content, tables)
    if claimed > FONT_BYTES:
        raise Rejected("The font's tables claim more than a font can have.")


def _woff_claims(content: bytes, tables: int) -> int:
    if WOFF.size + tables * WOFF_TABLE.size > len(content):
        raise Rejected("The font was cut off.")
    return sum(WOFF_TABLE.unpack_from(content, WOFF.size + index * WOFF_TABLE.size)[3] for index in range(tables))


def _woff2_claims(content: bytes, tables: int) -> int:
    """Return the sum of the tables' stated unpacked lengths; a transformed table states a second length, which counts as well."""
    at, total = WOFF2.size, 0
    for _ in range(tables):
        flags = content[at] if at < len(content) else 0
        known, version = flags & 63, flags >> 6
        at += 5 if known == KNOWN_TAG_NONE else 1
        length, at = _base128(content, at)
        # The version that means "not transformed" is 3 for glyf and loca, and 0 for all other tables.
        if version != (3 if known in {GLYF, LOCA} else 0):
            transformed, at = _base128(content, at)
            total += transformed
        total += length
    return total


def _base128(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(at, at + 5):
        if place >= len(content):
            raise Rejected("The font was cut off.")
        value = value << 7 | content[place] & 127
        if not content[place] & 128:
            return value, place + 1
    raise Rejected("The font's header is damaged.")


def _faces(file: BinaryIO, size: int) -> list[int]:
    file.seek(8)
    count = int.from_bytes(file.read(4), "big")
    if not 0 < count <= FACES:
        raise Rejected("The font collection has no faces, or more than 64.")
    offsets = [int.from_bytes(file.read(4), "big") for _ in range(count)]
    if any(offset + 12 > size for offset in offsets):
        raise Rejected("The font was cut off.")
    return offsets

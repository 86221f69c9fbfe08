"""Fonts: their table directory read and bounded first; compressed ones are unpacked by the sanitizer, never by fontTools."""

import io
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import ots
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables.O_S_2f_2 import OS2_UNICODE_RANGES

from .verdicts import Rejected

TABLES = 128
FACES = 64
# The largest families of East Asian fonts stay below this.
FONT_BYTES = 64 * 2**20
COMPRESSED_BYTES = 24 * 2**20
# Of the tables that are parsed; outlines are not.
TABLE_BYTES = 2**20
PARSED = {"name", "OS/2", "maxp", "fvar", "head"}
WOFF = struct.Struct(">4s4sIHHIHHIIIII")
WOFF_TABLE = struct.Struct(">4sIIII")
WOFF2 = struct.Struct(">4s4sIHHIIHHIIIII")
NAMES = 32
NAME_CHARS = 120


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return the glyph count, axes, family names and Unicode ranges."""
    if name in {"woff", "woff2"}:
        file = io.BytesIO(sanitized(file.read(COMPRESSED_BYTES + 1)))
        size = file.seek(0, io.SEEK_END)
    offsets = _faces(file, size) if name == "ttc" else [0]
    if name not in {"woff", "woff2"} and size > FONT_BYTES * len(offsets):
        raise Rejected("The font is larger than 64 MiB.")
    for offset in offsets:
        _check_directory(file, size, offset)
    faces = [_facts(file, index if name == "ttc" else -1) for index in range(min(len(offsets), NAMES))]
    found = faces[0] | {"familyNames": sorted({family for face in faces for family in face["familyNames"]})[:NAMES]}
    if name == "ttc":
        found["glyphCount"] = max(face["glyphCount"] for face in faces)
        found["faceCount"] = len(offsets)
    return found


def sanitized(content: bytes) -> bytes:
    """Return a web font as a plain OpenType font that the sanitizer browsers use has accepted."""
    if len(content) > COMPRESSED_BYTES:
        raise Rejected("The web font is larger than 24 MiB.")
    _check_web_header(content)
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "given"), Path(folder, "made")
        given.write_bytes(content)
        # It inherits our limits, and our parent's clock ends it with us.
        outcome = ots.sanitize(str(given), str(made), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if outcome.returncode or not made.exists():
            raise Rejected("Browsers refuse this font: the OpenType sanitizer did not accept it.")
        return made.read_bytes()


def _check_web_header(content: bytes) -> None:
    """Refuse by the header what would unpack to more than a font."""
    header = WOFF if content[:4] == b"wOFF" else WOFF2
    if len(content) < header.size:
        raise Rejected("The font was cut off.")
    fields = header.unpack_from(content)
    length, tables, unpacked = fields[2], fields[3], fields[5]
    if length != len(content):
        raise Rejected("The font's length is not what its header says.")
    if not 0 < tables <= TABLES or unpacked > FONT_BYTES:
        raise Rejected("The font's header claims more than a font can have.")
    if header is WOFF2:
        return
    total = 0
    for index in range(tables):
        at = header.size + index * WOFF_TABLE.size
        if at + WOFF_TABLE.size > len(content):
            raise Rejected("The font was cut off.")
        total += WOFF_TABLE.unpack_from(content, at)[3]
    if total > FONT_BYTES:
        raise Rejected("The font's tables claim more than a font can have.")


def _faces(file: BinaryIO, size: int) -> list[int]:
    file.seek(8)
    count = int.from_bytes(file.read(4), "big")
    if not 0 < count <= FACES:
        raise Rejected("The font collection has no faces, or more than 64.")
    offsets = [int.from_bytes(file.read(4), "big") for _ in range(count)]
    if any(offset + 12 > size for offset in offsets):
        raise Rejected("The font was cut off.")
    return offsets


def _check_directory(file: BinaryIO, size: int, offset: int) -> None:
    file.seek(offset + 4)
    count = int.from_bytes(file.read(2), "big")
    if not 0 < count <= TABLES:
        raise Rejected("The font has no tables, or more than 128.")
    file.seek(offset + 12)
    directory = file.read(16 * count)
    if len(directory) < 16 * count:
        raise Rejected("The font was cut off.")
    tags = set()
    for tag, _, start, length in struct.iter_unpack(">4sIII", directory):
        name = tag.decode("latin-1").strip()
        tags.add(name)
        if start + length > size:
            raise Rejected("A table of the font lies outside of the file.")
        if name in PARSED and length > TABLE_BYTES:
            raise Rejected(f"The font's {name} table is larger than 1 MiB.")
    missing = {"maxp", "name", "cmap", "head"} - tags
    if missing:
        raise Rejected(f"The font lacks the table {min(missing)}.")


def _facts(file: BinaryIO, index: int) -> dict[str, Any]:
    file.seek(0)
    try:
        font = TTFont(file, fontNumber=index, lazy=True)
        return _read(font)
    except (AssertionError, struct.error, ValueError, KeyError, IndexError, EOFError, UnicodeDecodeError, AttributeError) as error:
        raise Rejected("The font's tables cannot be read.") from error
    except Exception as error:
        # fontTools has an error of its own for each table.
        if type(error).__module__.startswith("fontTools"):
            raise Rejected("The font's tables cannot be read.") from error
        raise


def _read(font: Any) -> dict[str, Any]:
    # The table's own parser wants the whole of it; the count stands at a fixed place in every version.
    glyphs = int.from_bytes(font.reader["maxp"][4:6], "big")
    if not glyphs:
        raise ValueError("no glyphs")
    names = font["name"]
    family = names.getBestFamilyName() or ""
    axes = font["fvar"].axes if "fvar" in font else []
    return {
        "glyphCount": glyphs,
        "variableAxes": [axis.axisTag for axis in axes[:64]],
        "axes": [{"tag": axis.axisTag, "min": axis.minValue, "default": axis.defaultValue, "max": axis.maxValue} for axis in axes[:64]],
        "familyNames": [family[:NAME_CHARS]] if family else [],
        "style": (names.getBestSubFamilyName() or "")[:NAME_CHARS],
        "unitsPerEm": font["head"].unitsPerEm,
        "unicodeRanges": _ranges(font),
    }


def _ranges(font: Any) -> list[str]:
    if "OS/2" not in font:
        return []
    bits = sorted(font["OS/2"].getUnicodeRanges())
    return [OS2_UNICODE_RANGES[bit][0][0] for bit in bits if bit < len(OS2_UNICODE_RANGES)]

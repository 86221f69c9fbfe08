"""Inspects fonts with fontTools. The technical details come from a few small tables; `font_facts` reads the others.

Compressed fonts are unpacked by the sanitizer, never by fontTools.
"""

import io
import resource
import struct
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import ots
from fontTools import unicodedata
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables.O_S_2f_2 import OS2_UNICODE_RANGES

from . import font_facts
from .exceptions import Rejected, Unsupported, rejecting
from .sniffing import HEAD_BYTES, sniff

MAX_FACES = 64
# Of a face, once unpacked: larger than any of an East Asian family.
UNPACKED_BYTES = 64 * 2**20
COMPRESSED_BYTES = 24 * 2**20
# Memory limit of the sanitizer: room for several copies of the largest font.
SANITIZER_BYTES = 256 * 2**20
# The tables that the technical details are read from, and how large they may be.
READ_TABLES = {"name", "OS/2", "maxp", "fvar", "head"}
TABLE_BYTES = 2**20
REQUIRED_TABLES = {"maxp", "name", "cmap", "head"}
OUTLINES = {"glyf": "TrueType", "CFF ": "CFF", "CFF2": "CFF2"}
COLOUR_TABLES = ("COLR", "CBDT", "SVG ", "sbix")
UNREADABLE = "The font's tables cannot be read."
MAX_AXES = 64
MAX_NAMES = 32
NAME_CHARS = 120
# A record of the name table. Records may share their bytes, which are copied for each, so the sum of their lengths is limited.
NAME_RECORD = struct.Struct(">6H")
# Values of the Unicode script property that name no script: common, inherited, unassigned.
NO_SCRIPTS = {"Zyyy", "Zinh", "Zzzz"}
# The bits of the private use areas among the Unicode ranges of the table OS/2.
PRIVATE_USE = {60, 90}


def inspect(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return glyph count, axes, names, outlines, Unicode ranges and scripts, and in `facts` what fonts are compared by."""
    if format_name in {"woff", "woff2"}:
        file = io.BytesIO(sanitized(file.read(COMPRESSED_BYTES + 1)))
        size = file.seek(0, io.SEEK_END)
    count = int.from_bytes(file.read(12)[8:], "big") if format_name == "ttc" else 1
    if not 0 < count <= MAX_FACES:
        raise Rejected("The font collection has no faces, or more than 64.")
    if size > UNPACKED_BYTES * count:
        raise Rejected("The font is larger than 64 MiB.")
    fonts = [open_font(file, size, number) for number in range(count)]
    faces = [describe(font) for font in fonts]
    facts = {"facts": {"faces": [{"axes": face["axes"], **font_facts.facts(font)} for font, face in zip(fonts, faces, strict=True)]}}
    if format_name != "ttc":
        return faces[0] | facts
    families = sorted({family for face in faces for family in face["familyNames"]})[:MAX_NAMES]
    return faces[0] | {"familyNames": families, "glyphCount": max(face["glyphCount"] for face in faces), "faceCount": len(faces)} | facts


@rejecting(UNREADABLE)
def open_font(file: BinaryIO, size: int, number: int = 0) -> Any:
    """Return a plain font, or one face of a collection, after its tables were checked."""
    font = TTFont(file, fontNumber=number, lazy=True)
    _check_tables(font, size)
    return font


def _check_tables(font: Any, size: int) -> None:
    """Refuse tables that overlap, lie outside of the file, or claim more than fontTools should read."""
    tables = font.reader.tables
    missing = REQUIRED_TABLES - tables.keys()
    if missing:
        raise Rejected(f"The font lacks the table {min(missing)}.")
    if len(tables) != font.reader.numTables:
        raise Rejected("The font has two tables of one name.")
    # Two tags may refer to the same table as a whole, as in bitmap fonts.
    end = 0
    for start, length in sorted({(table.offset, table.length) for table in tables.values() if table.length}):
        if start < end or start + length > size:
            raise Rejected("Tables of the font overlap, or lie outside of the file.")
        end = start + length
    if any(tables[tag].length > TABLE_BYTES for tag in READ_TABLES & tables.keys()):
        raise Rejected("A table of the font is larger than 1 MiB.")
    names = font.reader["name"]
    records = names[6 : 6 + NAME_RECORD.size * int.from_bytes(names[2:4], "big")]
    if sum(record[4] for record in NAME_RECORD.iter_unpack(records)) > TABLE_BYTES:
        raise Rejected("The font's names are longer than 1 MiB.")


@rejecting(UNREADABLE)
def describe(font: Any) -> dict[str, Any]:
    """Return the technical details of an opened font."""
    axes = [
        {"tag": axis.axisTag, "min": axis.minValue, "default": axis.defaultValue, "max": axis.maxValue}
        for axis in (font["fvar"].axes if "fvar" in font else [])
    ]
    if len(axes) > MAX_AXES or any(not axis["min"] <= axis["default"] <= axis["max"] for axis in axes):
        raise Rejected(f"The font has more than {MAX_AXES} variable axes, or one without a range.")
    names = font["name"]
    family = _shortened(names.getBestFamilyName())
    known = font["OS/2"].getUnicodeRanges() if "OS/2" in font else ()
    bits = [bit for bit in sorted(known) if bit < len(OS2_UNICODE_RANGES)]
    if not font["maxp"].numGlyphs:
        raise Rejected("The font has no glyphs.")
    return {
        "glyphCount": font["maxp"].numGlyphs,
        "variableAxes": [axis["tag"] for axis in axes],
        "axes": axes,
        "familyNames": [family] if family else [],
        "style": _shortened(names.getBestSubFamilyName()),
        "fullName": _shortened(names.getDebugName(4)),
        "postScriptName": _shortened(names.getDebugName(6)),
        "unitsPerEm": font["head"].unitsPerEm,
        "outlines": next((kind for tag, kind in OUTLINES.items() if tag in font), "none"),
        "colourTables": [tag.strip() for tag in COLOUR_TABLES if tag in font],
        "unicodeRanges": [OS2_UNICODE_RANGES[bit][0][0] for bit in bits],
        "scripts": sorted(
            {script for bit in bits if bit not in PRIVATE_USE for _, span in OS2_UNICODE_RANGES[bit] if (script := _script(*span))}
        ),
    }


def _shortened(name: str | None) -> str:
    return (name or "").strip()[:NAME_CHARS]


def _script(first: int, last: int) -> str:
    """Return the Unicode name of the first script of a range of characters."""
    for code in range(first, last + 1):
        script = unicodedata.script(chr(code))
        if script not in NO_SCRIPTS:
            return str(unicodedata.script_name(script))
    return ""


def plain_font(content: bytes) -> bytes:
    """Return the font unchanged, or a web font sanitized.

    Raises:
        Unsupported: it is not a font.
    """
    format_name = sniff(content[:HEAD_BYTES])
    if format_name in {"woff", "woff2"}:
        return sanitized(content)
    if format_name not in {"otf", "ttf", "ttc"}:
        raise Unsupported("It is not a font.")
    return content


def sanitized(content: bytes) -> bytes:
    """Return a font as a plain OpenType font, as written by OTS, the sanitizer of browsers.

    Raises:
        Rejected: the sanitizer does not accept it, or it is too large.
    """
    if len(content) > COMPRESSED_BYTES:
        raise Rejected("The font is larger than 24 MiB.")
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
    """Limit the sanitizer's memory: it unpacks as much as a font claims, and copies a name each time that a font repeats it."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (SANITIZER_BYTES, SANITIZER_BYTES))

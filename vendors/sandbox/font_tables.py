"""Reads the few font tables that are needed, at fixed offsets: fontTools would read and copy as much as the tables claim to hold."""

import struct
from typing import Any, BinaryIO, NamedTuple

from fontTools import unicodedata
from fontTools.ttLib.tables.O_S_2f_2 import OS2_UNICODE_RANGES

from .verdicts import Rejected

TABLES = 128
# Limits the tables that are read; outlines are not read.
TABLE_BYTES = 2**20
READ = {"name", "OS/2", "maxp", "fvar", "head"}
NEEDED = {"maxp", "name", "cmap", "head"}
OUTLINES = {"glyf": "TrueType", "CFF ": "CFF", "CFF2": "CFF2"}
COLOURS = ("COLR", "CBDT", "SVG ", "sbix")
AXES = 64
NAMES = 4096
NAME_CHARS = 120
AXIS = struct.Struct(">4siiiHH")
NAME = struct.Struct(">6H")
# Name IDs in order of preference: WWS and typographic names before the legacy ones, which group four styles at most.
FAMILY, STYLE, FULL, POSTSCRIPT = (21, 16, 1), (22, 17, 2), (4,), (6,)
WINDOWS, MAC = 3, 1
ENGLISH = {(WINDOWS, 0x409), (MAC, 0), (0, 0)}
# Values of the Unicode script property that name no script: common, inherited, unassigned.
NO_SCRIPTS = {"Zyyy", "Zinh", "Zzzz"}
PRIVATE_USE = {60, 90}
MAGIC = 0x5F0F3CF5


class Table(NamedTuple):
    """The location of a table in the file."""

    start: int
    length: int


def directory(file: BinaryIO, size: int, offset: int) -> dict[str, Table]:
    """Return a face's tables by tag. Tables outside of the file and overlapping ones are refused."""
    file.seek(offset + 4)
    count = int.from_bytes(file.read(2), "big")
    if not 0 < count <= TABLES:
        raise Rejected("The font has no tables, or more than 128.")
    file.seek(offset + 12)
    block = file.read(16 * count)
    if len(block) < 16 * count:
        raise Rejected("The font was cut off.")
    tables: dict[str, Table] = {}
    for tag, _, start, length in struct.iter_unpack(">4sIII", block):
        name = tag.decode("latin-1")
        if start + length > size:
            raise Rejected("A table of the font lies outside of the file.")
        if name in READ and length > TABLE_BYTES:
            raise Rejected(f"The font's {name} table is larger than 1 MiB.")
        if name in tables:
            raise Rejected("The font has two tables of one name.")
        tables[name] = Table(start, length)
    missing = NEEDED - tables.keys()
    if missing:
        raise Rejected(f"The font lacks the table {min(missing)}.")
    _check_overlaps(tables)
    return tables


def _check_overlaps(tables: dict[str, Table]) -> None:
    end = 0
    # Two tags may refer to the same table as a whole, as in bitmap fonts.
    for table in sorted({table for table in tables.values() if table.length}):
        if table.start < end:
            raise Rejected("Tables of the font overlap.")
        end = table.start + table.length


def facts(file: BinaryIO, tables: dict[str, Table]) -> dict[str, Any]:
    """Return the technical details of one face."""
    content = {name: _table(file, tables[name]) for name in READ if name in tables}
    try:
        (glyphs,) = struct.unpack_from(">H", content["maxp"], 4)
        (magic,) = struct.unpack_from(">I", content["head"], 12)
        (units,) = struct.unpack_from(">H", content["head"], 18)
        axes = _axes(content["fvar"]) if content.get("fvar") else []
        names = _names(content["name"])
    except struct.error as error:
        raise Rejected("The font's tables cannot be read.") from error
    if not glyphs or magic != MAGIC:
        raise Rejected("The font's tables cannot be read.")
    bits = _range_bits(content.get("OS/2", b""))
    family = _best(names, FAMILY)
    return {
        "glyphCount": glyphs,
        "variableAxes": [axis["tag"] for axis in axes],
        "axes": axes,
        "familyNames": [family] if family else [],
        "style": _best(names, STYLE),
        "fullName": _best(names, FULL),
        "postScriptName": _best(names, POSTSCRIPT),
        "unitsPerEm": units,
        "outlines": next((words for tag, words in OUTLINES.items() if tag in tables), "none"),
        "colourTables": [tag.strip() for tag in COLOURS if tag in tables],
        "unicodeRanges": [OS2_UNICODE_RANGES[bit][0][0] for bit in bits],
        "scripts": _scripts(bits),
    }


def _table(file: BinaryIO, table: Table) -> bytes:
    file.seek(table.start)
    return file.read(table.length)


def _axes(content: bytes) -> list[dict[str, Any]]:
    """Return the axes of `fvar`; its named instances, which may be any number, are not read."""
    _, _, offset, _, count, step = struct.unpack_from(">6H", content)
    if count > AXES or step < AXIS.size:
        raise Rejected(f"The font has more than {AXES} variable axes.")
    found = []
    for index in range(count):
        tag, low, default, high, _, _ = AXIS.unpack_from(content, offset + index * step)
        if not low <= default <= high:
            raise Rejected("A variable axis of the font has no range.")
        found.append({"tag": tag.decode("latin-1"), "min": low / 65536, "default": default / 65536, "max": high / 65536})
    return found


def _names(content: bytes) -> dict[int, dict[bool, str]]:
    """Return, by number, the first name in English and the first in any language."""
    _, count, strings = struct.unpack_from(">3H", content)
    if count > NAMES:
        raise Rejected("The font has more than 4096 names.")
    found: dict[int, dict[bool, str]] = {}
    # Windows names come first, since those for the Macintosh platform are often truncated.
    for record in sorted(NAME.iter_unpack(content[6 : 6 + count * NAME.size]), key=lambda each: each[0] != WINDOWS):
        platform, encoding, language, number, length, offset = record
        if number not in {*FAMILY, *STYLE, *FULL, *POSTSCRIPT}:
            continue
        text = _decoded(content[strings + offset : strings + offset + min(length, 4 * NAME_CHARS)], platform, encoding)
        if text:
            found.setdefault(number, {}).setdefault((platform, language) in ENGLISH, text)
    return found


def _decoded(content: bytes, platform: int, encoding: int) -> str:
    if platform in {WINDOWS, 0}:
        return content.decode("utf-16-be", "ignore").strip()
    # Macintosh names in other encodings are skipped: modern fonts repeat them for Windows.
    return content.decode("mac-roman").strip() if platform == MAC and encoding == 0 else ""


def _best(names: dict[int, dict[bool, str]], numbers: tuple[int, ...]) -> str:
    for number in numbers:
        known = names.get(number)
        if known:
            return known.get(True, known.get(False, ""))[:NAME_CHARS]
    return ""


def _range_bits(content: bytes) -> list[int]:
    """Return the Unicode ranges that the `OS/2` table states, as bit numbers."""
    words = struct.unpack(">4I", content[42:58]) if len(content) >= 58 else (0, 0, 0, 0)
    return [bit for bit in range(len(OS2_UNICODE_RANGES)) if words[bit // 32] >> bit % 32 & 1]


def _scripts(bits: list[int]) -> list[str]:
    """Return the scripts of the ranges by their Unicode names."""
    return sorted({script for bit in bits if bit not in PRIVATE_USE for _, span in OS2_UNICODE_RANGES[bit] if (script := _script(*span))})


def _script(first: int, last: int) -> str:
    for code in range(first, last + 1):
        script = unicodedata.script(chr(code))
        if script not in NO_SCRIPTS:
            return str(unicodedata.script_name(script))
    return ""

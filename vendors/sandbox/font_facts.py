"""The facts by which two fonts are compared: names, metrics, axes, and digests of tables and of the outlines of glyphs."""

import struct
import time
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

from fontTools.pens.recordingPen import RecordingPen

# The most glyphs of all fonts of a file, and the seconds of processor time for their outlines; further glyphs are compared by the digests of tables only.
MAX_GLYPHS = 20_000
MAX_SECONDS = 40
# The most tables that have a digest each; all others have one together.
MAX_TABLES = 64
MAX_NAMES = 64
NAME_CHARS = 300
NAME_IDS = range(26)
GLYPH_NAME_CHARS = 63
MAX_CODE_POINTS = 8
MAX_COMPONENT_DEPTH = 64
DIGEST_BYTES = 12
# The fields of tables that decide how lines of text look, and what may be done with the font.
METRICS = {
    "head": ("unitsPerEm", "fontRevision", "macStyle"),
    "hhea": ("ascent", "descent", "lineGap"),
    "OS/2": (
        *("usWeightClass", "usWidthClass", "fsType", "fsSelection", "xAvgCharWidth", "sTypoAscender", "sTypoDescender", "sTypoLineGap"),
        *("usWinAscent", "usWinDescent", "sxHeight", "sCapHeight"),
    ),
    "post": ("italicAngle", "underlinePosition", "underlineThickness", "isFixedPitch"),
}
TABLE_BYTES = 2**20
GVAR = struct.Struct(">HHHHIHHI")


class Budget:
    """The glyphs and the processor time that are left for all fonts of a file."""

    def __init__(self) -> None:
        self.glyphs = MAX_GLYPHS
        self.until = time.process_time() + MAX_SECONDS

    def take_glyph(self) -> bool:
        """Take one more glyph from the budget; return whether it may be digested."""
        self.glyphs -= 1
        return self.glyphs >= 0 and time.process_time() < self.until


def digest(content: bytes) -> str:
    """Return a hash of bytes as hex digits."""
    return blake2b(content, digest_size=DIGEST_BYTES).hexdigest()


# Shared by all fonts, because a process inspects one file.
_budget = Budget()


def facts(font: Any) -> dict[str, Any]:
    """Return the facts of one face; what cannot be read is left out."""
    found: dict[str, Any] = {}
    for name, read in (("names", _names), ("metrics", _metrics), ("tables", _tables)):
        found[name] = _attempt(partial(read, font)) or {}
    found["otherTables"] = _attempt(partial(_other_tables, font)) or ""
    found["glyphCount"] = font["maxp"].numGlyphs
    found["glyphs"], found["complete"] = _attempt(partial(_glyphs, font)) or ({}, False)
    return found


def _attempt(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception:  # noqa: BLE001 - parsers raise anything on hostile bytes
        return None


def _names(font: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for record in font["name"].names:
        if record.nameID in NAME_IDS and len(found) < MAX_NAMES:
            text = str(font["name"].getDebugName(record.nameID) or "")
            found[str(record.nameID)] = text[:NAME_CHARS]
    return found


def _metrics(font: Any) -> dict[str, float]:
    found: dict[str, float] = {}
    for tag, fields in METRICS.items():
        # `post` also holds the names of glyphs.
        if tag in font and (tag == "post" or len(font.reader[tag]) <= TABLE_BYTES):
            table = _attempt(partial(font.__getitem__, tag))
            found |= {f"{tag} {field}": value for field in fields if isinstance(value := getattr(table, field, None), int | float)}
    return found


def _tables(font: Any) -> dict[str, str]:
    tags = sorted(font.reader.tables)[:MAX_TABLES]
    return {tag: digest(font.reader[tag]) for tag in tags}


def _other_tables(font: Any) -> str:
    tags = sorted(font.reader.tables)[MAX_TABLES:]
    return digest("".join(f"{tag}{digest(font.reader[tag])}" for tag in tags).encode()) if tags else ""


def _glyphs(font: Any) -> tuple[dict[str, Any], bool]:
    """Return outline digest, advance width and code points of each glyph by its name, and whether all glyphs are there."""
    characters: dict[str, list[int]] = {}
    for code_point, name in sorted((_attempt(font.getBestCmap) or {}).items()):
        characters.setdefault(name, []).append(code_point)
    widths = font["hmtx"].metrics if "hmtx" in font else {}
    outlines = Outlines(font)
    found: dict[str, Any] = {}
    for name in font.getGlyphOrder():
        if not _budget.take_glyph():
            return found, False
        found[_short(name)] = [outlines.digest(name), widths.get(name, (0,))[0], characters.get(name, [])[:MAX_CODE_POINTS]]
    return found, True


def _short(name: str) -> str:
    """Return a name of at most the usual length; different names stay different."""
    return name if len(name) <= GLYPH_NAME_CHARS else f"{name[:38]}~{digest(name.encode())}"


class Outlines:
    """The outlines of a font's glyphs. Each glyph is drawn once, so that glyphs made of glyphs take no longer than others."""

    def __init__(self, font: Any) -> None:
        self._glyphs = font.getGlyphSet() if {"glyf", "CFF ", "CFF2"} & set(font.keys()) else {}
        self._variations = dict(_variations(font)) if "gvar" in font else {}
        self._known: dict[str, str] = {}

    def digest(self, name: str, depth: int = 0) -> str:
        """Return a hash of what the glyph draws, in the default instance and by its variations; empty where it cannot be drawn."""
        if name not in self._known:
            self._known[name] = "" if depth > MAX_COMPONENT_DEPTH else _attempt(partial(self._digest, name, depth)) or ""
        return self._known[name]

    def _digest(self, name: str, depth: int) -> str:
        if name not in self._glyphs:
            return ""
        pen = RecordingPen()
        self._glyphs[name].draw(pen)
        parts = [self._variations.get(name, b"").hex()]
        for operator, operands in pen.value:
            if operator == "addComponent":
                base, transformation = operands
                parts.append(f"{self.digest(base, depth + 1)} {tuple(transformation)!r}")
            else:
                parts.append(f"{operator} {operands!r}")
        return digest("\n".join(parts).encode())


def _variations(font: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of each glyph's variations in the table `gvar`, by the glyph's name."""
    table = font.reader["gvar"]
    _, _, _, _, _, count, flags, start = GVAR.unpack_from(table)
    width = 4 if flags & 1 else 2
    offsets = struct.unpack_from(f">{count + 1}{'I' if width == 4 else 'H'}", table, GVAR.size)
    scale = 1 if width == 4 else 2
    for number, name in enumerate(font.getGlyphOrder()[:count]):
        yield name, table[start + offsets[number] * scale : start + offsets[number + 1] * scale]

"""Subsets of fonts with which buyers try a family: the characters of the sample repertoire, marked as a preview."""

import io
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from fontTools import subset

from . import archive_files, fonts, woff2
from .exceptions import Rejected, rejecting

MARK = "Preview of"
NOTICE = "A subset for trying the font before buying it."
# The records of the name table that programs show, and those that identify the font (OpenType specification, name ids).
SHOWN_NAMES, POSTSCRIPT_NAME, UNIQUE_NAME, DESCRIPTION = {1, 4, 16, 18, 21}, 6, 3, 10
# Signatures do not hold for a subset, and drawings in SVG may be of any size.
DROPPED = ["DSIG", "SVG ", "EBDT", "EBLC", "EBSC"]
# Features that programs apply by default, according to the specification.
ALWAYS = {"ccmp", "kern", "liga", "locl", "mark", "mkmk", "rlig"}
MAX_RANGES = 4000
# The most bytes of a style and of all together, and the seconds of processor time after which no further style is begun.
STYLE_BYTES, TOTAL_BYTES, MAX_SECONDS = 160 * 2**10, 2 * 2**20, 40
# Bits of the fields `fsType` and `fsSelection` of the table OS/2.
PREVIEW_AND_PRINT = 4
ITALIC = 1
# Platform, encoding and language of a name that every program reads: Windows, Unicode, English (US).
WINDOWS_ENGLISH = (3, 1, 0x409)


def run(file: BinaryIO, size: int, members: list[list[Any]], characters: str, features: list[str]) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `font-styles` task of the sandbox: return what each style is, and a subset of it as WOFF2.

    A font that cannot be read or subset is left out, and so are those for which there is no time or room.

    Args:
        file: A font, or an archive with fonts.
        size: Its size in bytes.
        members: For each style the path inside the archive, empty for a font, and the face of a collection, else 0.
        characters: Those that the subsets hold, as far as a font has them.
        features: The OpenType features that they keep beside those that every text needs.
    """
    styles: list[dict[str, Any]] = []
    blobs: list[bytes] = []
    for path, face in members:
        file.seek(0)
        with suppress(Exception):
            content = fonts.plain_font(archive_files.member(file, size, path))
            found, packed = _style(content, face, characters, features)
            if sum(map(len, blobs)) + len(packed) <= TOTAL_BYTES:
                styles.append(found)
                blobs.append(packed)
        if time.process_time() > MAX_SECONDS:
            break
    return {"styles": styles}, blobs


def _style(content: bytes, face: int, characters: str, features: list[str]) -> tuple[dict[str, Any], bytes]:
    """Return the facts of a plain font and its subset, without alternate glyphs where these make it too large."""
    facts = fonts.describe(fonts.open_font(io.BytesIO(content), len(content), face))
    for kept_features in (ALWAYS | {*subset.Options().layout_features, *features}, ALWAYS):
        font = fonts.open_font(io.BytesIO(content), len(content), face)
        with rejecting("The font cannot be subset."):
            found = _weight_and_ranges(font)
            made = _subset(font, characters, kept_features)
        sanitized = fonts.sanitized(made)
        packed = woff2.write(sanitized)
        if len(packed) <= STYLE_BYTES:
            subset_font = fonts.open_font(io.BytesIO(sanitized), len(sanitized))
            return facts | found | {"features": _features(subset_font)}, packed
    raise Rejected("The subset is larger than 160 KiB.")


def _weight_and_ranges(font: Any) -> dict[str, Any]:
    os2 = font.get("OS/2")
    slanted = "post" in font and font["post"].italicAngle != 0
    return {
        "weight": getattr(os2, "usWeightClass", 400),
        "italic": bool(slanted or getattr(os2, "fsSelection", 0) & ITALIC),
        "ranges": list(_ranges(sorted(font.getBestCmap() or {})))[:MAX_RANGES],
    }


def _ranges(code_points: list[int]) -> Iterator[list[int]]:
    """Yield the first and the last of each run of consecutive numbers."""
    start = 0
    for place, code_point in enumerate(code_points, 1):
        if place == len(code_points) or code_points[place] != code_point + 1:
            yield [code_points[start], code_point]
            start = place


def _subset(font: Any, characters: str, features: set[str]) -> bytes:
    options = subset.Options(
        layout_features=sorted(features), name_IDs=["*"], notdef_outline=True, hinting=False, glyph_names=False, legacy_kern=True
    )
    options.drop_tables += DROPPED
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    _mark(font)
    target = io.BytesIO()
    font.save(target)
    return target.getvalue()


def _mark(font: Any) -> None:
    """Name the font as a preview wherever programs show a name."""
    names = font["name"]
    for record in list(names.names):
        key = (record.nameID, record.platformID, record.platEncID, record.langID)
        if record.nameID in SHOWN_NAMES:
            names.setName(f"{MARK} {record.toUnicode()}", *key)
        elif record.nameID == POSTSCRIPT_NAME:
            names.setName(f"Preview-{record.toUnicode()}"[:63], *key)
        elif record.nameID in {UNIQUE_NAME, DESCRIPTION}:
            names.removeNames(*key)
    names.setName(NOTICE, DESCRIPTION, *WINDOWS_ENGLISH)
    if "OS/2" in font:
        font["OS/2"].fsType = PREVIEW_AND_PRINT


def _features(font: Any) -> list[str]:
    """Return the tags of the layout features that the font has."""
    tables = [font[tag].table for tag in ("GSUB", "GPOS") if tag in font]
    return sorted({record.FeatureTag for table in tables if table.FeatureList for record in table.FeatureList.FeatureRecord})

"""Draws glyphs of a font as SVG paths for reviewers. Which glyphs changed is compared before, by the digests of `font_facts`."""

import io
from collections.abc import Sequence
from typing import Any, BinaryIO

from fontTools.pens.svgPathPen import SVGPathPen

from . import archive_files, fonts
from .exceptions import Unsupported, rejecting
from .sniffing import HEAD_BYTES, sniff

GLYPHS = 24
PATH_CHARS = 20_000


def run(file: BinaryIO, size: int, path: str, face: int, names: Sequence[str]) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `glyphs` task of the sandbox: return the drawing and the width of each glyph, and the font's lines in its units."""
    content = archive_files.member(file, size, path)
    name = sniff(content[:HEAD_BYTES])
    if name in {"woff", "woff2"}:
        content = fonts.sanitized(content)
    elif name not in {"otf", "ttf", "ttc"}:
        raise Unsupported("It is not a font.")
    font = fonts.open_font(io.BytesIO(content), len(content), face)
    with rejecting("The font cannot be drawn."):
        glyphs = font.getGlyphSet()
        head, lines = font["head"], font["hhea"]
        drawn = {}
        for glyph in names[:GLYPHS]:
            if glyph in glyphs:
                pen = SVGPathPen(glyphs, ntos=lambda value: f"{value:.0f}")
                glyphs[glyph].draw(pen)
                commands = pen.getCommands()
                drawn[glyph] = {"path": commands if len(commands) <= PATH_CHARS else "", "width": glyphs[glyph].width}
    return {"glyphs": drawn, "unitsPerEm": head.unitsPerEm, "ascent": lines.ascent, "descent": lines.descent}, []

"""Draws glyphs of a font as SVG paths for reviewers, who choose among those that the digests of `font_facts` show as changed."""

import io
from collections.abc import Sequence
from typing import Any, BinaryIO

from fontTools.pens.svgPathPen import SVGPathPen

from . import archive_files, fonts
from .exceptions import rejecting

PATH_CHARS = 20_000


def run(file: BinaryIO, size: int, path: str, face: int, names: Sequence[str]) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `glyphs` task of the sandbox: return the drawing and the width of each glyph, and the font's ascent and descent, all in units of the font."""
    content = fonts.plain_font(archive_files.member(file, size, path))
    font = fonts.open_font(io.BytesIO(content), len(content), face)
    with rejecting("The font cannot be drawn."):
        glyphs = font.getGlyphSet()
        metrics = font["hhea"]
        drawn = {}
        for glyph in names:
            if glyph in glyphs:
                pen = SVGPathPen(glyphs, ntos=lambda value: f"{value:.0f}")
                glyphs[glyph].draw(pen)
                commands = pen.getCommands()
                drawn[glyph] = {"path": commands if len(commands) <= PATH_CHARS else "", "width": glyphs[glyph].width}
    return {"glyphs": drawn, "ascent": metrics.ascent, "descent": metrics.descent}, []

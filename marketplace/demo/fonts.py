"""Draws real TrueType fonts from strokes: a family is a set of numbers (weight, width, slant, contrast)."""

import io
import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables.TupleVariation import TupleVariation

from .skeletons import SHAPES, Point, Stroke, strokes_of

UNITS = 1000
CAP = 700
ASCENT = 900
DESCENT = -250
SMALL_CAPS = 0.74
# 1980-01-01 in the font epoch: two builds are the same bytes.
BUILT = 2_398_291_200
OVERLAP_FLAG = 0x40


@dataclass(frozen=True)
class Contour:
    """An outline.

    Args:
        points: Around it, clockwise.
        round: Whether its two long sides, each half of the points, are curves.
    """

    points: list[Point]
    round: bool = False


@dataclass(frozen=True)
class Style:
    """One style of a family.

    Args:
        weight: Thickness of upright strokes in units.
        width: Width of the letter box in units.
        slant: Lean as a share of the height.
        contrast: Thickness of level strokes as a share of upright ones.
        corners: Points of the polygon at stroke ends: many is round, four is square.
        dotted: Whether strokes are rows of dots.
    """

    weight: float = 90
    width: float = 480
    slant: float = 0
    contrast: float = 1
    corners: int = 16
    dotted: bool = False


def build_font(family: str, style_name: str, style: Style) -> bytes:
    """Return a TrueType font."""
    return _saved(_builder(family, style_name, style).font)


def build_variable_font(family: str, light: Style, bold: float) -> bytes:
    """Return a font with a weight axis from the light style (300) to the bold weight (800)."""
    builder = _builder(family, "Light", light)
    builder.setupFvar([("wght", 300, 300, 800, "Weight")], [])
    heavy = _glyphs(replace(light, weight=bold))[0]
    thin = builder.font["glyf"]
    variations = {}
    for name, glyph in heavy.items():
        if glyph.numberOfContours <= 0:
            continue
        pairs = zip(glyph.coordinates, thin[name].coordinates, strict=True)
        deltas = [(round(x1 - x0), round(y1 - y0)) for (x1, y1), (x0, y0) in pairs]
        # Four phantom points: the advance stays the same in every weight.
        variations[name] = [TupleVariation({"wght": (0.0, 1.0, 1.0)}, [*deltas, (0, 0), (0, 0), (0, 0), (0, 0)])]
    builder.setupGvar(variations)
    return _saved(builder.font)


def as_woff2(font: bytes) -> bytes:
    """Return the same font as WOFF2, for the type tester."""
    opened = TTFont(io.BytesIO(font), recalcTimestamp=False)
    opened.flavor = "woff2"
    return _saved(opened)


def _saved(font: TTFont) -> bytes:
    font.recalcTimestamp = False
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()


def _builder(family: str, style_name: str, style: Style) -> Any:
    glyphs, metrics, characters = _glyphs(style)
    builder = FontBuilder(UNITS, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap(characters)
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics(metrics)
    builder.setupHorizontalHeader(ascent=ASCENT, descent=DESCENT)
    postscript = f"{family}-{style_name}".replace(" ", "")
    builder.setupNameTable(
        {
            "copyright": "Made by the demo content of the marketplace; free to use.",
            "familyName": family,
            "styleName": style_name,
            "uniqueFontIdentifier": f"1.000;{postscript}",
            "fullName": f"{family} {style_name}",
            "version": "Version 1.000",
            "psName": postscript,
        }
    )
    builder.setupOS2(sTypoAscender=ASCENT, sTypoDescender=DESCENT, usWinAscent=ASCENT, usWinDescent=-DESCENT, sCapHeight=CAP)
    builder.setupPost()
    builder.updateHead(created=BUILT, modified=BUILT)
    return builder


def _glyphs(style: Style) -> tuple[dict[str, Any], dict[str, tuple[int, int]], dict[int, str]]:
    """Return the glyphs by name, their advance and left bearing, and the character map."""
    space = round(style.width * 0.55)
    frame = [(60.0, 0.0), (60.0, float(CAP)), (440.0, float(CAP)), (440.0, 0.0)]
    inner = [(120.0, 60.0), (380.0, 60.0), (380.0, CAP - 60.0), (120.0, CAP - 60.0)]
    drawn: dict[str, tuple[int, list[Contour]]] = {".notdef": (500, [Contour(frame), Contour(inner)]), "space": (space, [])}
    characters = {0x20: "space", 0xA0: "space"}
    for character, (share, shape) in SHAPES.items():
        name = f"uni{ord(character):04X}"
        drawn[name] = _draw(strokes_of(shape), share, style, 1)
        characters[ord(character)] = name
        if character.isalpha():
            small = ord(character.lower())
            drawn[f"uni{small:04X}"] = _draw(strokes_of(shape), share, style, SMALL_CAPS)
            characters[small] = f"uni{small:04X}"
    glyphs = {name: _glyph(contours) for name, (_, contours) in drawn.items()}
    metrics = {name: (advance, getattr(glyphs[name], "xMin", 0)) for name, (advance, _) in drawn.items()}
    return glyphs, metrics, characters


def _glyph(contours: list[Contour]) -> Any:
    pen = TTGlyphPen(None)
    for contour in contours:
        points = [(round(x), round(y)) for x, y in contour.points]
        pen.moveTo(points[0])
        if contour.round:
            half = len(points) // 2
            pen.qCurveTo(*points[1:half])
            pen.lineTo(points[half])
            pen.qCurveTo(*points[half + 1 :])
        else:
            for point in points[1:]:
                pen.lineTo(point)
        pen.closePath()
    # Points are kept even where rounding makes them coincide: the weights of a variable font must match.
    glyph = pen.glyph(dropImpliedOnCurves=False)
    if contours:
        glyph.flags[0] |= OVERLAP_FLAG
    glyph.recalcBounds(None)
    return glyph


def _draw(strokes: list[Stroke], share: float, style: Style, scale: float) -> tuple[int, list[Contour]]:
    """Return a letter's advance and its outlines."""
    bearing = 55 + style.weight / 2
    box = style.width * share * scale
    contours: list[Contour] = []
    for stroke in strokes:
        points = [(bearing + x * box, y * CAP * scale) for x, y in stroke.points]
        if style.dotted:
            contours += [Contour(_dot(point, style)) for point in _spaced(points, style.weight * 1.25)]
            continue
        runs = [points] if stroke.smooth else [list(pair) for pair in pairwise(points)]
        contours += [Contour(_band(run, style), stroke.smooth) for run in runs]
        contours += [Contour(_dot(point, style)) for point in ((points[0], points[-1]) if stroke.smooth else points)]
    leaning = [Contour([(x + y * style.slant, y) for x, y in contour.points], contour.round) for contour in contours]
    return round(box + 2 * bearing), leaning


def _band(points: list[Point], style: Style) -> list[Point]:
    """Return the outline around a run of points: along its left side, back along its right."""
    left, right = [], []
    for index, (x, y) in enumerate(points):
        (ax, ay), (bx, by) = points[max(index - 1, 0)], points[min(index + 1, len(points) - 1)]
        length = math.hypot(bx - ax, by - ay) or 1
        nx, ny = -(by - ay) / length * style.weight / 2, (bx - ax) / length * style.weight * style.contrast / 2
        left.append((x + nx, y + ny))
        right.append((x - nx, y - ny))
    return left + right[::-1]


def _dot(centre: Point, style: Style) -> list[Point]:
    """Return the polygon at a stroke's end, clockwise like the bands."""
    turn = math.pi / style.corners
    radius = style.weight / 2 / (math.cos(turn) if style.corners == 4 else 1)
    angles = [turn - 2 * math.pi * corner / style.corners for corner in range(style.corners)]
    return [(centre[0] + radius * math.cos(a), centre[1] + radius * style.contrast * math.sin(a)) for a in angles]


def _spaced(points: list[Point], step: float) -> list[Point]:
    """Return points at even distances along a run."""
    found, travelled, due = [], 0.0, 0.0
    for (ax, ay), (bx, by) in pairwise(points):
        length = math.hypot(bx - ax, by - ay)
        while length and due <= travelled + length:
            share = (due - travelled) / length
            found.append((ax + (bx - ax) * share, ay + (by - ay) * share))
            due += step
        travelled += length
    return found

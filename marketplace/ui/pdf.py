"""Renders receipts and certificates as PDF: a title, labelled facts, a table, paragraphs.

Text is set in Roboto, which covers Latin, Greek and Cyrillic, else in the CJK font of its range, of the standard ones that PDF readers have.
A character that none of them has is shown as a box, so each document also contains an ASCII identifier.
"""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from xml.sax.saxutils import escape

import font_roboto
from reportlab.lib import colors
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Flowable, Image, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

_INK, _MUTED, _LINE = colors.HexColor("#1b1b1f"), colors.HexColor("#5c5c66"), colors.HexColor("#d9d9e0")
_REGULAR, _BOLD = "Roboto", "Roboto-Bold"
_JAPANESE, _KOREAN, _CHINESE = "HeiseiKakuGo-W5", "HYGothic-Medium", "STSong-Light"
# Longer texts are cut: a row cannot be taller than a page.
_TEXT_CHARS = 1000
# The page without its margins and the frame's own padding.
_WIDTH = A4[0] - 40 * mm - 12
_LOGO_WIDTH, _LOGO_HEIGHT = 60 * mm, 20 * mm


@dataclass(frozen=True)
class Grid:
    """A table: the first column is text, the others are right-aligned."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class PdfDocument:
    """The content, from top to bottom. All of it is plain text, never markup; each text is cut after 1,000 characters."""

    title: str
    subtitle: str
    facts: Sequence[tuple[str, str]]
    grid: Grid | None = None
    paragraphs: Sequence[str] = field(default_factory=tuple)
    # A JPEG above the title; none if it is empty.
    logo: bytes = field(default=b"", repr=False)


def render_pdf(document: PdfDocument) -> bytes:
    """Return the PDF; the same document gives the same bytes."""
    _register_fonts()
    buffer = io.BytesIO()
    template = SimpleDocTemplate(
        buffer,
        pagesize=A4,
        leftMargin=20 * mm,
        rightMargin=20 * mm,
        topMargin=22 * mm,
        bottomMargin=20 * mm,
        title=document.title,
        author="",
        invariant=1,
        lang="en",
    )
    template.build(list(_flow(document)))
    return buffer.getvalue()


def _flow(document: PdfDocument) -> Iterable[Flowable]:
    if document.logo:
        yield _logo(document.logo)
        yield Spacer(1, 6 * mm)
    yield _text(document.title, _style(20, bold=True))
    yield Spacer(1, 2 * mm)
    yield _text(document.subtitle, _style(10, color=_MUTED))
    yield Spacer(1, 8 * mm)
    label, value = _style(9, color=_MUTED), _style(10)
    yield _ruled_table([[_text(name, label), _text(text, value)] for name, text in document.facts], [45 * mm, _WIDTH - 45 * mm])
    if document.grid is not None:
        yield Spacer(1, 8 * mm)
        yield _ruled_table([_grid_row(row, bold=index == 0) for index, row in enumerate([document.grid.head, *document.grid.rows])], None)
    for paragraph in document.paragraphs:
        yield Spacer(1, 5 * mm)
        yield _text(paragraph, _style(8, color=_MUTED))


def _logo(content: bytes) -> Image:
    """Return the logo as large as the space for it allows."""
    width, height = ImageReader(io.BytesIO(content)).getSize()
    scale = min(_LOGO_WIDTH / width, _LOGO_HEIGHT / height)
    return Image(io.BytesIO(content), width * scale, height * scale, hAlign="LEFT")


def _grid_row(row: Sequence[str], *, bold: bool) -> list[Paragraph]:
    first, *others = row
    return [_text(first, _style(9, bold=bold)), *(_text(cell, _style(9, bold=bold, right=True)) for cell in others)]


def _ruled_table(rows: list[list[Paragraph]], widths: list[float] | None) -> Table:
    if widths is None:
        others = len(rows[0]) - 1
        widths = [_WIDTH - others * 32 * mm, *[32 * mm] * others]
    style = [("VALIGN", (0, 0), (-1, -1), "TOP"), ("LINEBELOW", (0, 0), (-1, -1), 0.4, _LINE), ("LEFTPADDING", (0, 0), (-1, -1), 0)]
    return Table(rows, colWidths=widths, style=TableStyle(style), hAlign="LEFT")


def _style(size: float, *, bold: bool = False, right: bool = False, color: colors.Color = _INK) -> ParagraphStyle:
    return ParagraphStyle(
        "text",
        fontName=_BOLD if bold else _REGULAR,
        fontSize=size,
        leading=size * 1.4,
        textColor=color,
        **({"alignment": TA_RIGHT} if right else {}),
    )


def _text(text: str, style: ParagraphStyle) -> Paragraph:
    """Return text as a paragraph, each run in Roboto if it has its characters, else in the CJK font of their range."""
    clean = "".join(char if char.isprintable() else " " for char in text[:_TEXT_CHARS])
    runs = ((font, "".join(group)) for font, group in groupby(clean, key=lambda char: _font_for(char, style.fontName)))
    return Paragraph("".join(f'<font name="{font}">{escape(run)}</font>' for font, run in runs), style)


def _font_for(char: str, wanted: str) -> str:
    code = ord(char)
    if code in pdfmetrics.getFont(wanted).face.charToGlyph:
        return wanted
    if 0x3040 <= code <= 0x30FF or 0x31F0 <= code <= 0x31FF or 0xFF00 <= code <= 0xFFEF:
        return _JAPANESE
    if 0xAC00 <= code <= 0xD7AF or 0x1100 <= code <= 0x11FF:
        return _KOREAN
    return _CHINESE if 0x2E80 <= code <= 0x9FFF else wanted


@cache
def _register_fonts() -> None:
    for name, path in ((_REGULAR, font_roboto.Roboto), (_BOLD, font_roboto.RobotoBold)):
        pdfmetrics.registerFont(TTFont(name, path))
    for name in (_JAPANESE, _KOREAN, _CHINESE):
        pdfmetrics.registerFont(UnicodeCIDFont(name))

"""Small real files: an image, a font, a sound, an archive."""

import io
import struct
import wave
import zipfile
from functools import cache
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from PIL import Image

SKILL = """---
name: kerning-advisor
description: Suggests kerning for a line of text.
---
# Setup

Secret steps that buyers pay for.

## Usage
"""


@cache
def png(colour: str = "teal") -> bytes:
    """Return a small PNG."""
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(buffer, "PNG")
    return buffer.getvalue()


@cache
def font(flavor: str | None = None) -> bytes:
    """Return a font of two glyphs, as TTF or as a web font."""
    pen = TTGlyphPen(None)
    for point in ((0, 0), (500, 0), (250, 700)):
        (pen.moveTo if point == (0, 0) else pen.lineTo)(point)
    pen.closePath()
    glyph = pen.glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "A"])
    builder.setupCharacterMap({65: "A"})
    builder.setupGlyf({".notdef": glyph, "A": glyph})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "A": (500, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Aurora", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.font.flavor = flavor
    buffer = io.BytesIO()
    builder.font.save(buffer)
    return buffer.getvalue()


@cache
def wav() -> bytes:
    """Return a tenth of a second of sound."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(struct.pack("<800h", *range(800)))
    return buffer.getvalue()


def archive(**members: bytes | str) -> bytes:
    """Return a zip of `name_extension=content` members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("_", "."), content)
    return buffer.getvalue()


def form(content: bytes, name: str = "file.bin") -> dict[str, Any]:
    """Return a form with one file."""
    return {"file": SimpleUploadedFile(name, content)}

"""What is said of real files is what fontTools, Pillow and FFmpeg say of them."""

import io
import os
from functools import partial
from pathlib import Path
from typing import Any

import av
import ots
import pytest
from fontTools.ttLib import TTFont

from catalog.models.files import PreviewKind
from marketplace.storage.base import ObjectStorage
from vendors.previews import process_preview

from . import makers, real
from .helpers import inspect

process_image = partial(process_preview, PreviewKind.GALLERY)
process_font = partial(process_preview, PreviewKind.FONT_SPECIMEN)
process_audio = partial(process_preview, PreviewKind.AUDIO_PREVIEW)

pytestmark = pytest.mark.full

NAMES = ["variable", "collection for Chinese", "colour", "cubic", "wide", "variable woff2", "woff2", "woff", "ttf"]
FORMATS = {b"\0\1\0\0": "ttf", b"OTTO": "otf", b"ttcf": "ttc", b"wOFF": "woff", b"wOF2": "woff2"}
SPECIAL = {"colour": ("colourTables", ["CBDT"]), "cubic": ("outlines", "CFF"), "collection for Chinese": ("faceCount", 2)}
SCRIPTS = {
    "variable": {"Latin", "Cyrillic", "Greek"},
    "collection for Chinese": {"Han", "Hiragana", "Katakana", "Hangul", "Latin"},
    "wide": {"Arabic", "Armenian", "Cyrillic", "Greek", "Latin"},
}


def faces_of(content: bytes) -> list[Any]:
    if content[:4] != b"ttcf":
        return [TTFont(io.BytesIO(content), lazy=True)]
    count = int.from_bytes(content[8:12], "big")
    return [TTFont(io.BytesIO(content), fontNumber=index, lazy=True) for index in range(count)]


def axes_of(font: Any) -> list[dict[str, Any]]:
    axes = font["fvar"].axes if "fvar" in font else []
    return [{"tag": axis.axisTag, "min": axis.minValue, "default": axis.defaultValue, "max": axis.maxValue} for axis in axes]


@pytest.mark.parametrize("name", NAMES)
def test_font_is_described_as_fonttools_does(name: str, local_store: ObjectStorage) -> None:
    content = real.font(name).read_bytes()
    found = inspect(local_store, content)
    technical, faces = found.technical, faces_of(content)
    assert found.format == FORMATS[content[:4]]
    assert technical["glyphCount"] == max(face["maxp"].numGlyphs for face in faces)
    assert technical["axes"] == axes_of(faces[0])
    assert technical["variableAxes"] == [axis["tag"] for axis in technical["axes"]]
    assert technical["familyNames"] == sorted({face["name"].getBestFamilyName() for face in faces})
    assert technical["style"] == faces[0]["name"].getBestSubFamilyName()
    assert technical["postScriptName"] == (faces[0]["name"].getDebugName(6) or "")
    assert technical["unitsPerEm"] == faces[0]["head"].unitsPerEm
    assert len(technical["unicodeRanges"]) == len([bit for bit in faces[0]["OS/2"].getUnicodeRanges() if bit < 123])
    assert set(technical["colourTables"]) == {"COLR", "CBDT", "sbix", "SVG"} & {tag.strip() for tag in faces[0].keys()}  # noqa: SIM118 - it is no dictionary
    assert SCRIPTS.get(name, set()) <= set(technical["scripts"])
    field, value = SPECIAL.get(name, ("glyphCount", technical["glyphCount"]))
    assert technical[field] == value


@pytest.mark.parametrize("name", ["cubic", "wide", "Japanese", "variable woff2", "woff"])
def test_specimen_of_a_real_font_draws_as_before(name: str, tmp_path: Path) -> None:
    content = real.font(name).read_bytes()
    before = TTFont(io.BytesIO(content))
    if content[:3] != b"wOF":
        packed = TTFont(io.BytesIO(content), lazy=True, recalcBBoxes=False, recalcTimestamp=False)
        packed.flavor = "woff"
        content = makers.saved(packed)
    specimen = process_font(content)
    after = TTFont(io.BytesIO(specimen.content))
    assert after.flavor == "woff2"
    assert after["maxp"].numGlyphs == before["maxp"].numGlyphs
    assert after.getBestCmap() == before.getBestCmap()
    assert axes_of(after) == axes_of(before)
    outlines = "glyf" if "glyf" in before else "CFF "
    for glyph in list(before.getGlyphOrder())[:200]:
        number = before.getGlyphID(glyph)
        if outlines == "glyf":
            pairs = [font["glyf"][font.getGlyphName(number)].getCoordinates(font["glyf"])[0] for font in (before, after)]
            assert pairs[0] == pairs[1]
    (tmp_path / "font").write_bytes(specimen.content)
    assert ots.sanitize(str(tmp_path / "font"), os.devnull, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("name", "codec", "bit_rate"),
    [("a.mp3", "libmp3lame", 64_000), ("a.aac", "aac", 96_000), ("a.m4a", "aac", 128_000)],
)
def test_sound_is_described_as_ffmpeg_does(name: str, codec: str, bit_rate: int, tmp_path: Path, local_store: ObjectStorage) -> None:
    content = real.encoded(tmp_path / name, codec, bit_rate)
    technical = inspect(local_store, content).technical
    with av.open(str(tmp_path / name)) as container:
        stream = container.streams.audio[0]
        # Of raw AAC FFmpeg guesses the duration by the bit rate; the packets say it.
        seconds = float(sum(packet.duration or 0 for packet in container.demux(stream)) * (stream.time_base or 0))
        assert (technical["sampleRate"], technical["channels"]) == (stream.rate, stream.channels)
        assert technical["durationSeconds"] == pytest.approx(seconds, abs=0.1)
    assert process_audio(content).details["durationSeconds"] == technical["durationSeconds"]

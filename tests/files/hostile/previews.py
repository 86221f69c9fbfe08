"""What is sent as a preview and is none, or more than one."""

import io
import struct
import subprocess
import sys
import zlib

from fontTools.ttLib import TTFont
from PIL import Image

from .. import makers
from .cases import Case, Heavy, Refused, Taken, Unsupported
from .fonts import circular_composites, name_bomb, with_table, woff2_of_a_large_table
from .media import SVG, id3_bomb, jpeg_of, lying_wave, lying_xing

IMAGE, FONT, AUDIO = "gallery-image", "font-specimen", "audio-preview"


def jpeg_of_scans(count: int) -> bytes:
    """Return a progressive JPEG whose last pass is repeated."""
    content = makers.saved(Image.effect_noise((600, 400), 50), "JPEG", progressive=True)
    last = content.rindex(b"\xff\xda")
    return content[:-2] + content[last:-2] * count + content[-2:]


def compressed(plain: bytes, flavor: str) -> bytes:
    font = TTFont(io.BytesIO(plain), lazy=True, recalcBBoxes=False)
    font.flavor = flavor
    return makers.saved(font)


def many_points() -> bytes:
    """Return a font of one glyph whose 500 bytes are 65,535 points."""
    glyph = struct.pack(">hhhhhHH", 1, 0, 0, 500, 700, 65_534, 0) + b"\x39\xff" * 256
    font = TTFont(io.BytesIO(with_table("glyf", glyph)))
    font["loca"].compile = lambda _: struct.pack(">4I", 0, 0, 0, len(glyph))
    font["head"].indexToLocFormat = 1
    return compressed(makers.saved(font), "woff")


def black_png(width: int, height: int, *, depth: int, colour: int) -> bytes:
    """Return a PNG of this size, row by row: Pillow would hold all of its pixels."""
    row, packer = b"\0" * (1 + width * depth // 8 * (4 if colour == 6 else 1)), zlib.compressobj()
    body = b"".join([*(packer.compress(row) for _ in range(height)), packer.flush()])
    return makers.png_around(width, height, depth, colour, body)


def large(kind: str, size: tuple[int, int], mode: str = "RGB") -> bytes:
    """Return a picture of this size, made by a process of its own, which holds all of its pixels."""
    script = f"import sys; from PIL import Image; Image.new({mode!r}, {size}).save(sys.stdout.buffer, {kind!r}, method=0)"
    return subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE).stdout


PREVIEWS: tuple[Case, ...] = (
    *(Case("SVG", lambda: SVG, Unsupported(), kind) for kind in (IMAGE, FONT, AUDIO)),
    Case("HTML", lambda: b"<!doctype html><script>alert(1)</script>", Unsupported(), IMAGE),
    Case("zip", lambda: makers.zipped({"a": b"a"}), Unsupported(), AUDIO),
    Case("GIF", lambda: b"GIF89a" + b"\0" * 100, Unsupported(), IMAGE),
    Case("png with a side of 30,000", lambda: makers.png_of(30_000, 10), Refused("side of more than 20,000"), IMAGE),
    Case("jpeg cut off", lambda: makers.picture("JPEG", (300, 300))[:200], Refused("cut off"), IMAGE),
    Case("webp cut off", lambda: makers.picture("WEBP", (300, 300))[:40], Refused("cut off"), IMAGE),
    Heavy("png of 400 million pixels", lambda: makers.png_of(20_000, 20_000), Refused("28 million"), IMAGE),
    # Colour with transparency, and grey.
    Heavy("png of 28 million pixels", lambda: black_png(7000, 4000, depth=8, colour=6), Taken("image/webp"), IMAGE),
    Heavy("png of 28 million pixels of 16 bits", lambda: black_png(7000, 4000, depth=16, colour=0), Taken("image/webp"), IMAGE),
    Heavy("png with a text bomb", makers.png_with_text_bomb, Refused("damaged"), IMAGE),
    Heavy("jpeg of 65,000 by 65,000", lambda: jpeg_of(65_000, 65_000), Refused("40 million"), IMAGE),
    Heavy("jpeg of 40 million pixels", lambda: large("JPEG", (8000, 5000)), Taken("image/webp"), IMAGE),
    Heavy("jpeg of 100 passes", lambda: jpeg_of_scans(100), Refused("more passes"), IMAGE),
    Heavy("webp of 15 million pixels", lambda: large("WEBP", (5000, 3000), "RGBA"), Taken("image/webp"), IMAGE),
    Case("woff with glyphs made of each other", lambda: compressed(circular_composites(), "woff"), Refused("sanitizer"), FONT),
    Heavy("woff of one glyph of 65,535 points", many_points, Refused("sanitizer"), FONT),
    Heavy("woff with 65,535 names of 64 KiB", lambda: compressed(name_bomb(), "woff"), Refused("sanitizer"), FONT),
    Heavy("woff2 whose tables claim 1 GiB", woff2_of_a_large_table, Refused("sanitizer"), FONT),
    Case("woff cut off", lambda: makers.font(flavor="woff")[:-20], Refused("sanitizer"), FONT),
    Case("woff2 with damaged tables", lambda: makers.font(flavor="woff2")[:-60] + b"\x55" * 60, Refused("sanitizer"), FONT),
    Case("woff of four bytes", lambda: b"wOFF", Refused("sanitizer"), FONT),
    Case("plain font", makers.font, Unsupported("WOFF2"), FONT),
    Case("wav cut off", lambda: makers.sound("WAV")[:40], Refused("decoded"), AUDIO),
    Case("mp3 of a tag only", lambda: b"ID3" + b"\0" * 200, Refused("decoded"), AUDIO),
    Case("mp3 of empty frames", lambda: b"\xff\xfb\x90\x00" * 10, Refused("decoded"), AUDIO),
    Case("wav that claims 4 GiB", lying_wave, Taken("audio/wav"), AUDIO),
    Case("mp3 whose header claims a year", lying_xing, Taken("audio/mpeg"), AUDIO),
    Heavy("mp3 with a compressed comment of 256 MiB", id3_bomb, Taken("audio/mpeg"), AUDIO),
    Case("flac", lambda: makers.sound("FLAC"), Unsupported("MP3"), AUDIO),
)

"""What all pictures are drawn with: palettes, a canvas, lettering."""

import functools
import io
import random
from typing import NamedTuple

from django.conf import settings
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFilter, ImageFont

# Twice the size of the picture: shrinking it makes smooth edges.
WIDTH, HEIGHT = 2400, 1600
SIZE = (WIDTH // 2, HEIGHT // 2)
JPEG_QUALITY = 88
Colour = tuple[int, int, int]
Box = tuple[float, float, float, float]


class Palette(NamedTuple):
    """Colours that go together."""

    dark: Colour
    middle: Colour
    light: Colour
    accent: Colour


def _colours(codes: str) -> Palette:
    dark, middle, light, accent = ((int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16)) for code in codes.split())
    return Palette(dark, middle, light, accent)


PALETTES = tuple(
    map(
        _colours,
        (
            "1d2b3a 3f6c7d f2ede2 e4572e",
            "2b1b2e 8a4a6b f7e9e4 f0a04b",
            "10312b 2f7d66 eef3e6 f2c14e",
            "23233f 5a5fc7 eceafd ff8a6b",
            "3a1f14 b5562f fbeee0 3f8f8b",
            "14213d 2f5fa8 e9f0fa fca311",
            "2d2a26 7c7468 f4f1ea c8553d",
            "3b0d2c b0305c fde8ee f4b942",
            "0f2e3d 1f8ea3 e4f6f6 f26d5b",
            "1f2d16 6b8e3a f3f6e3 d9822b",
            "2a1a47 7d4fc4 f1eafb 43c6ac",
            "331a1a c0463f fdeeea f2b96b",
        ),
    )
)


def palette(rng: random.Random) -> Palette:
    """Return colours that go together."""
    return rng.choice(PALETTES)


def seeded_random(seed: str) -> random.Random:
    """Return a random generator: the same seed gives the same picture."""
    return random.Random(seed)  # noqa: S311 - a picture, not a secret


def blend(first: Colour, second: Colour, share: float) -> Colour:
    """Return the colour between two; `share` is how much the second has."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def plain(colour: Colour) -> Image.Image:
    """Return a canvas of one colour."""
    return Image.new("RGB", (WIDTH, HEIGHT), colour)


def gradient(top: Colour, bottom: Colour) -> Image.Image:
    """Return a canvas that goes from one colour to another."""
    column = Image.new("RGB", (1, 2))
    column.putpixel((0, 0), top)
    column.putpixel((0, 1), bottom)
    return column.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR)


def pen(image: Image.Image) -> ImageDraw.ImageDraw:
    """Return a drawing context for a canvas that supports transparent colours."""
    return ImageDraw.Draw(image, "RGBA")


def sheet(image: Image.Image, box: Box, colour: Colour, radius: int = 24) -> ImageDraw.ImageDraw:
    """Draw a sheet with a soft shadow on the canvas; return a drawing context."""
    left, top, right, bottom = map(round, box)
    # The shadow is soft, so a tenth of the size is enough to draw it.
    small = Image.new("L", (WIDTH // 10, HEIGHT // 10))
    ImageDraw.Draw(small).rounded_rectangle((left // 10, top // 10 + 3, right // 10, bottom // 10 + 5), 3, fill=95)
    image.paste((0, 0, 0), mask=small.filter(ImageFilter.GaussianBlur(4)).resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR))
    draw = pen(image)
    draw.rounded_rectangle((left, top, right, bottom), radius, fill=colour)
    return draw


@functools.cache
def _lettering() -> bytes:
    """Return the typeface of our pages as a file that Pillow reads."""
    font = TTFont(settings.BASE_DIR / "templates" / "static" / "fonts" / "figtree-latin.woff2", recalcTimestamp=False)
    font.flavor = None
    target = io.BytesIO()
    font.save(target)
    return target.getvalue()


@functools.lru_cache(maxsize=64)
def letters(size: int, weight: int = 600) -> ImageFont.FreeTypeFont:
    """Return the typeface of our pages in a size and a weight."""
    font = ImageFont.truetype(io.BytesIO(_lettering()), size)
    font.set_variation_by_axes([weight])
    return font


def fitting(font: bytes, size: int, text: str, width: float = WIDTH - 240) -> ImageFont.FreeTypeFont:
    """Return a font at `size`, or smaller so that the text is no wider than that."""
    length = ImageFont.truetype(io.BytesIO(font), size).getlength(text)
    return ImageFont.truetype(io.BytesIO(font), round(size * min(1.0, width / length)))


def lines_of(text: str, font: ImageFont.FreeTypeFont, width: float) -> list[str]:
    """Return the text in lines that are no wider than that."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def bars(draw: ImageDraw.ImageDraw, box: Box, colour: Colour, *, step: float, shares: tuple[float, ...] = (1, 0.92, 0.97, 0.6)) -> None:
    """Draw bars that look like lines of text, down a box."""
    left, top, right, bottom = box
    number, y = 0, top
    while y + step * 0.45 <= bottom:
        end = left + (right - left) * shares[number % len(shares)]
        draw.rounded_rectangle((left, y, end, y + step * 0.45), step * 0.2, fill=colour)
        number, y = number + 1, y + step


def finished(image: Image.Image) -> bytes:
    """Return the picture as JPEG."""
    buffer = io.BytesIO()
    image.resize(SIZE, Image.Resampling.BOX).save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()

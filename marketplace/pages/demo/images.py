"""Paints preview pictures: a pattern for each category, the title set in one of our own fonts."""

import colorsys
import io
import math
import random

from PIL import Image, ImageDraw, ImageFont

SIZE = (1200, 800)
JPEG_QUALITY = 88
Colour = tuple[int, int, int]


def paint_card(title: str, category: str, font: bytes, *, seed: str) -> bytes:
    """Return the card's thumbnail as JPEG: the same seed paints the same picture."""
    chance = random.Random(seed)  # noqa: S311 - a picture, not a secret
    dark, middle, light = palette(chance)
    image = _gradient(dark, middle)
    draw = ImageDraw.Draw(image, "RGBA")
    PATTERNS.get(category, _rings)(draw, chance, (*light, 150))
    draw.rectangle((0, 560, SIZE[0], SIZE[1]), fill=(*dark, 215))
    draw.text((60, 680), title, font=_fitting(font, 110, title), fill=light, anchor="lm")
    return _jpeg(image)


def paint_specimen(title: str, font: bytes, *, seed: str) -> bytes:
    """Return a gallery slide that shows a font's letters."""
    dark, _, light = palette(random.Random(seed))  # noqa: S311 - a picture, not a secret
    image = Image.new("RGB", SIZE, light)
    draw = ImageDraw.Draw(image)
    lines = ((title, 96), ("ABCDEFGHIJKLM", 84), ("NOPQRSTUVWXYZ", 84), ("0123456789 ?!", 84), ("Pack my box with five dozen jugs", 56))
    y = 110
    for text, size in lines:
        draw.text((60, y), text, font=_fitting(font, size, text), fill=dark, anchor="lm")
        y += 145
    return _jpeg(image)


def palette(chance: random.Random) -> tuple[Colour, Colour, Colour]:
    """Return a dark, a middle and a light colour that go together."""
    hue = chance.random()
    return _colour(hue, 0.75, 0.24), _colour(hue + chance.choice((0.08, -0.08, 0.45)), 0.65, 0.68), _colour(hue + 0.05, 0.14, 0.98)


def _colour(hue: float, saturation: float, value: float) -> Colour:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


def _gradient(top: Colour, bottom: Colour) -> Image.Image:
    column = Image.new("RGB", (1, 2))
    column.putpixel((0, 0), top)
    column.putpixel((0, 1), bottom)
    return column.resize(SIZE, Image.Resampling.BILINEAR)


def _fitting(font: bytes, size: int, text: str) -> ImageFont.FreeTypeFont:
    """Return the font at `size`, or smaller so that the text fits the picture's width."""
    length = ImageFont.truetype(io.BytesIO(font), size).getlength(text)
    return ImageFont.truetype(io.BytesIO(font), round(size * min(1.0, (SIZE[0] - 120) / length)))


def _jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


def _letters(draw: ImageDraw.ImageDraw, chance: random.Random, ink: tuple[int, ...]) -> None:
    for row in range(4):
        for column in range(6):
            x, y = 100 + column * 190, 70 + row * 130
            start = chance.choice((0, 90, 180, 270))
            draw.arc((x, y, x + 100, y + 100), start, start + chance.choice((180, 270)), fill=ink, width=18)


def _waves(draw: ImageDraw.ImageDraw, chance: random.Random, ink: tuple[int, ...]) -> None:
    for line in range(9):
        swing, pace, shift = chance.uniform(20, 70), chance.uniform(120, 260), chance.uniform(0, 6)
        points = [(x, 60 + line * 55 + swing * math.sin(x / pace + shift)) for x in range(0, SIZE[0] + 20, 20)]
        draw.line(points, fill=ink, width=5)


def _frames(draw: ImageDraw.ImageDraw, chance: random.Random, ink: tuple[int, ...]) -> None:
    for _ in range(9):
        x, y = chance.randrange(60, 900), chance.randrange(40, 400)
        draw.rounded_rectangle((x, y, x + chance.randrange(140, 300), y + chance.randrange(80, 180)), 18, outline=ink, width=6)


def _swatches(draw: ImageDraw.ImageDraw, chance: random.Random, ink: tuple[int, ...]) -> None:
    for column in range(12):
        height = chance.randrange(80, 480)
        draw.rectangle((60 + column * 92, 540 - height, 60 + column * 92 + 70, 540), fill=(*ink[:3], chance.randrange(60, 220)))


def _nodes(draw: ImageDraw.ImageDraw, chance: random.Random, ink: tuple[int, ...]) -> None:
    points = [(chance.randrange(80, 1120), chance.randrange(60, 520)) for _ in range(14)]
    for index, (x, y) in enumerate(points):
        draw.line(((x, y), points[(index * 5 + 3) % len(points)]), fill=ink, width=3)
        draw.ellipse((x - 14, y - 14, x + 14, y + 14), fill=ink)


def _rings(draw: ImageDraw.ImageDraw, chance: random.Random, ink: tuple[int, ...]) -> None:
    for _ in range(12):
        x, y, radius = chance.randrange(0, 1200), chance.randrange(0, 560), chance.randrange(30, 140)
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), outline=ink, width=6)


PATTERNS = {"fonts": _letters, "motion": _waves, "templates": _frames, "presets": _swatches, "ai-skills": _nodes}

"""Pictures of fonts, each set in the font."""

import random

from PIL import ImageFont

from .canvas import HEIGHT, WIDTH, Palette, blend, finished, fitting, palette, pen, plain, seeded_random

PAIRS = (("R", "g"), ("A", "a"), ("K", "k"), ("Q", "e"), ("G", "s"), ("M", "n"))
PANGRAM = "Pack my box with five dozen jugs"


def font_pictures(title: str, font: bytes, *, seed: str) -> tuple[bytes, ...]:
    """Return the card, the sheet of letters and the font in use."""
    rng = seeded_random(seed)
    colours = palette(rng)
    card = rng.choice((_pair, _rows, _name))(title, font, colours, rng)
    return card, _letters(title, font, colours), _poster(title, font, colours)


def _pair(title: str, font: bytes, colours: Palette, rng: random.Random) -> bytes:
    image = plain(colours.light)
    draw = pen(image)
    draw.rectangle((WIDTH * 0.58, 0, WIDTH, HEIGHT), fill=colours.dark)
    first, second = rng.choice(PAIRS)
    big = _font_of_height(font, 1000)
    draw.text((WIDTH * 0.29, 700), first, font=big, fill=colours.dark, anchor="mm")
    draw.text((WIDTH * 0.79, 700), second, font=big, fill=colours.light, anchor="mm")
    draw.text((120, HEIGHT - 170), title, font=fitting(font, 150, title, WIDTH * 0.5), fill=colours.accent, anchor="lm")
    return finished(image)


def _rows(title: str, font: bytes, colours: Palette, rng: random.Random) -> bytes:
    image = plain(colours.dark)
    draw = pen(image)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    start = rng.randrange(12)
    face = _font_of_height(font, 430)
    for row in range(3):
        text = "".join(alphabet[(start + row * 7 + column) % 26] for column in range(12))
        tone = colours.accent if row == 1 else blend(colours.dark, colours.light, 0.9 if row == 0 else 0.45)
        draw.text((90 - row * 60, 300 + row * 420), text, font=face, fill=tone, anchor="lm")
    draw.rectangle((0, HEIGHT - 260, WIDTH, HEIGHT), fill=colours.light)
    draw.text((120, HEIGHT - 130), title, font=fitting(font, 150, title), fill=colours.dark, anchor="lm")
    return finished(image)


def _name(title: str, font: bytes, colours: Palette, rng: random.Random) -> bytes:
    image = plain(rng.choice((colours.accent, colours.middle)))
    draw = pen(image)
    words = title.split()
    size = min(fitting(font, 560, word).size for word in words)
    top = HEIGHT / 2 - 60 - (len(words) - 1) * size * 0.55
    for number, word in enumerate(words):
        draw.text((120, top + number * size * 1.1), word, font=fitting(font, int(size), word), fill=(255, 255, 255), anchor="lm")
    draw.text((120, HEIGHT - 160), "Aa Bb Cc 0123456789", font=fitting(font, 110, "Aa Bb Cc 0123456789"), fill=colours.dark, anchor="lm")
    return finished(image)


def _letters(title: str, font: bytes, colours: Palette) -> bytes:
    image = plain(colours.light)
    draw = pen(image)
    y = 200
    for text, size in ((title, 190), ("ABCDEFGHIJKLM", 170), ("NOPQRSTUVWXYZ", 170), ("0123456789 ?!", 170), (PANGRAM, 110)):
        draw.text((120, y), text, font=fitting(font, size, text), fill=colours.accent if y == 200 else colours.dark, anchor="lm")
        y += 300
    return finished(image)


def _poster(title: str, font: bytes, colours: Palette) -> bytes:
    image = plain(colours.middle)
    draw = pen(image)
    draw.ellipse((WIDTH * 0.55, -300, WIDTH * 0.55 + 1700, 1400), fill=colours.accent)
    for number, line in enumerate(("Open late", "every first", "Friday")):
        draw.text((140, 330 + number * 360), line, font=fitting(font, 330, "every first"), fill=colours.light, anchor="lm")
    small = f"Set in {title}"
    draw.text((140, HEIGHT - 200), small, font=fitting(font, 100, small), fill=colours.light, anchor="lm")
    return finished(image)


def _font_of_height(font: bytes, height: int) -> ImageFont.FreeTypeFont:
    """Return the font in the size in which a capital has this height."""
    return fitting(font, round(height / 0.7), "H", WIDTH)

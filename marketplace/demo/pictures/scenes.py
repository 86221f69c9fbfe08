"""Pictures of colour looks, on the same scene before and after, and of sounds, as waveforms."""

import array
import io
import math
import sys
import wave

from PIL import Image

from ..looks import Look
from .canvas import HEIGHT, WIDTH, Colour, blend, finished, gradient, letters, palette, pen, seeded_random

BANDS = 48
HILLS: tuple[tuple[float, Colour], ...] = (
    (0.50, (132, 148, 170)),
    (0.62, (92, 116, 128)),
    (0.74, (62, 92, 84)),
    (0.87, (40, 60, 50)),
)
SKIN = ((236, 188, 160), (198, 138, 106), (122, 78, 58))


def look_pictures(title: str, look: Look, *, portrait: bool, seed: str) -> tuple[bytes, ...]:
    """Return a scene without and with the look, side by side, and the whole scene with it."""
    scene = _faces() if portrait else _hills(seed)
    tuned = _apply_look(scene, look)
    split = scene.copy()
    split.paste(tuned.crop((WIDTH // 2, 0, WIDTH, HEIGHT)), (WIDTH // 2, 0))
    draw = pen(split)
    draw.rectangle((WIDTH // 2 - 6, 0, WIDTH // 2 + 6, HEIGHT), fill=(255, 255, 255))
    for x, word in ((100, "Before"), (WIDTH // 2 + 100, title)):
        face = letters(110, 700)
        draw.rounded_rectangle((x - 45, HEIGHT - 260, x + face.getlength(word) + 45, HEIGHT - 90), 85, fill=(0, 0, 0, 150))
        draw.text((x, HEIGHT - 175), word, font=face, fill=(255, 255, 255), anchor="lm")
    return finished(split), finished(tuned)


def sound_pictures(title: str, sound: bytes, *, seed: str) -> tuple[bytes, ...]:
    """Return the waveform of a sound."""
    colours = palette(seeded_random(seed))
    image = gradient(colours.dark, blend(colours.dark, colours.middle, 0.55))
    draw = pen(image)
    peaks = _peaks(sound)
    step = (WIDTH - 240) / BANDS
    for number, peak in enumerate(peaks):
        x, half = 120 + number * step, 18 + peak * 470
        tone = colours.accent if number < BANDS * 0.38 else blend(colours.middle, colours.light, 0.6)
        draw.rounded_rectangle((x, 640 - half, x + step * 0.56, 640 + half), step * 0.28, fill=tone)
    draw.ellipse((120, HEIGHT - 370, 360, HEIGHT - 130), fill=colours.light)
    draw.polygon(((208, HEIGHT - 312), (208, HEIGHT - 188), (308, HEIGHT - 250)), fill=colours.dark)
    draw.text((430, HEIGHT - 250), title, font=letters(150, 700), fill=colours.light, anchor="lm")
    return (finished(image),)


def _apply_look(scene: Image.Image, look: Look) -> Image.Image:
    """Return the scene as the look's table maps it; done at half the size, at which it is shown."""
    grey = scene.convert("L")
    channels = []
    for channel, warmth in zip(scene.split(), (look.warmth, 0.0, -look.warmth), strict=True):
        mixed = Image.blend(grey, channel, look.strength)
        shift = 255 * (look.lift + warmth)
        channels.append(mixed.point([max(0, min(255, round(value + shift))) for value in range(256)]))
    return Image.merge("RGB", channels)


def _hills(seed: str) -> Image.Image:
    rng = seeded_random(seed)
    image = gradient((118, 160, 205), (246, 214, 176))
    draw = pen(image)
    sun = rng.uniform(0.2, 0.8) * WIDTH
    for radius, strength in ((420, 40), (300, 70), (190, 255)):
        draw.ellipse((sun - radius, 560 - radius, sun + radius, 560 + radius), fill=(255, 238, 205, strength))
    for height, colour in HILLS:
        shift, pace, swing = rng.uniform(0, 6), rng.uniform(260, 520), rng.uniform(50, 120)
        ridge = [
            (x, HEIGHT * height + swing * math.sin(x / pace + shift) + swing * 0.35 * math.sin(x / pace * 2.7))
            for x in range(0, WIDTH + 40, 40)
        ]
        draw.polygon([*ridge, (WIDTH, HEIGHT), (0, HEIGHT)], fill=colour)
    return image


def _faces() -> Image.Image:
    """Return two people before a wall, as flat shapes: three tones of skin and of cloth."""
    image = gradient((176, 190, 198), (222, 208, 192))
    draw = pen(image)
    people = ((620, SKIN[0], (70, 44, 34), (62, 98, 128)), (1780, SKIN[2], (28, 22, 22), (186, 96, 70)))
    for x, skin, hair, cloth in people:
        draw.ellipse((x - 360, 200, x + 360, 1010), fill=hair)
        draw.rounded_rectangle((x - 560, 1120, x + 560, HEIGHT + 300), 360, fill=cloth)
        draw.rounded_rectangle((x - 120, 850, x + 120, 1260), 110, fill=blend(skin, (0, 0, 0), 0.16))
        draw.ellipse((x - 270, 320, x + 270, 1010), fill=skin)
        draw.pieslice((x - 300, 240, x + 300, 820), 180, 360, fill=hair)
    return image


def _peaks(sound: bytes) -> list[float]:
    """Return the peak of each part of a WAV file, relative to the loudest."""
    with wave.open(io.BytesIO(sound), "rb") as opened:
        samples = array.array("h", opened.readframes(opened.getnframes()))
    if sys.byteorder == "big":
        samples.byteswap()
    part = len(samples) // BANDS
    peaks = [max(map(abs, samples[start : start + part : 7])) for start in range(0, part * BANDS, part)]
    return [peak / max(*peaks, 1) for peak in peaks]

"""Pictures of motion packs: a frame with its time line, and a storyboard."""

import math
import random
from collections.abc import Callable

from PIL import Image, ImageDraw

from .canvas import HEIGHT, WIDTH, Palette, blend, finished, gradient, letters, palette, pen, seeded_random

STAGE = HEIGHT - 360
Painter = Callable[[ImageDraw.ImageDraw, Palette, random.Random, str], None]


def motion_pictures(title: str, scene: str, *, seed: str) -> tuple[bytes, ...]:
    """Return a frame of the scene with the time line, and the scene's storyboard."""
    rng = seeded_random(seed)
    colours = palette(rng)
    image = gradient(colours.dark, blend(colours.dark, colours.middle, 0.7))
    draw = pen(image)
    SCENES[scene](draw, colours, rng, title)
    _time_line(draw, colours, rng)
    return finished(image), _storyboard(title, scene, colours, seed)


def _time_line(draw: ImageDraw.ImageDraw, colours: Palette, rng: random.Random) -> None:
    draw.rectangle((0, STAGE, WIDTH, HEIGHT), fill=blend(colours.dark, (0, 0, 0), 0.35))
    for row in range(3):
        y = STAGE + 90 + row * 90
        start, end = sorted((rng.uniform(120, 1000), rng.uniform(1200, WIDTH - 120)))
        draw.rounded_rectangle((start, y - 22, end, y + 22), 22, fill=(*(colours.accent if row == 1 else colours.middle), 200))
        for x in (start, (start + end) / 2, end):
            draw.polygon(((x - 32, y), (x, y - 32), (x + 32, y), (x, y + 32)), fill=colours.light)
    draw.line((WIDTH * 0.46, STAGE, WIDTH * 0.46, HEIGHT), fill=colours.accent, width=10)


def _storyboard(title: str, scene: str, colours: Palette, seed: str) -> bytes:
    """Return six moments of the scene, each further on."""
    board = Image.new("RGB", (WIDTH, HEIGHT), colours.light)
    draw = pen(board)
    draw.text((120, 150), title, font=letters(110, 700), fill=colours.dark, anchor="lm")
    for number in range(6):
        frame = gradient(colours.dark, blend(colours.dark, colours.middle, 0.7))
        SCENES[scene](pen(frame), colours, seeded_random(f"{seed}{number}"), title)
        small = frame.crop((0, 0, WIDTH, STAGE)).resize((660, 341), Image.Resampling.BOX)
        x, y = 120 + number % 3 * 750, 330 + number // 3 * 580
        board.paste(small, (x, y))
        draw.text((x, y + 400), f"00:{number:02}", font=letters(70, 500), fill=blend(colours.dark, colours.light, 0.35), anchor="lm")
    return finished(board)


def _reveal(draw: ImageDraw.ImageDraw, colours: Palette, rng: random.Random, title: str) -> None:
    x, y, turn = WIDTH / 2, STAGE / 2, rng.uniform(0, 90)
    for number in range(6):
        radius = 520 - number * 72
        corners = [
            (x + radius * math.cos(a), y + radius * math.sin(a)) for a in (math.radians(turn + number * 11 + k * 90) for k in range(4))
        ]
        draw.polygon(corners, fill=(*blend(colours.middle, colours.light, number / 6), 70 + number * 30))
    draw.ellipse((x - 130, y - 130, x + 130, y + 130), fill=colours.accent)


def _lower_thirds(draw: ImageDraw.ImageDraw, colours: Palette, rng: random.Random, title: str) -> None:
    length = rng.uniform(1150, 1500)
    draw.ellipse((1480, 160, 2080, 760), fill=(*colours.middle, 160))
    draw.pieslice((1240, 780, 2320, 1860), 180, 360, fill=(*colours.middle, 160))
    draw.rounded_rectangle((160, 760, 160 + length, 950), 30, fill=colours.light)
    draw.rounded_rectangle((160, 970, 160 + length * 0.7, 1090), 30, fill=colours.accent)
    draw.text((230, 855), "Mira Okafor", font=letters(130, 700), fill=colours.dark, anchor="lm")
    draw.text((230, 1030), "Sound designer", font=letters(80, 600), fill=colours.dark, anchor="lm")


def _loaders(draw: ImageDraw.ImageDraw, colours: Palette, rng: random.Random, title: str) -> None:
    for column, kind in enumerate(("ring", "dots", "bars")):
        x, y, turn = 440 + column * 760, STAGE / 2, rng.uniform(0, 360)
        if kind == "ring":
            draw.arc((x - 250, y - 250, x + 250, y + 250), 0, 360, fill=(*colours.light, 50), width=70)
            draw.arc((x - 250, y - 250, x + 250, y + 250), turn, turn + 230, fill=colours.accent, width=70)
        elif kind == "dots":
            for number in range(9):
                a, radius = math.radians(turn + number * 40), 24 + number * 6
                cx, cy = x + 230 * math.cos(a), y + 230 * math.sin(a)
                draw.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), fill=(*colours.light, 60 + number * 24))
        else:
            for number in range(5):
                half = 70 + 190 * abs(math.sin(math.radians(turn) + number * 0.8))
                left = x - 250 + number * 110
                draw.rounded_rectangle((left, y - half, left + 64, y + half), 32, fill=blend(colours.middle, colours.light, 0.75))


def _folds(draw: ImageDraw.ImageDraw, colours: Palette, rng: random.Random, title: str) -> None:
    step, lean = WIDTH / 6, rng.uniform(120, 420)
    for number in range(7):
        x = number * step - lean / 2
        tones = (blend(colours.middle, colours.light, 0.8 - number * 0.12), blend(colours.middle, colours.dark, 0.15 + number * 0.08))
        draw.polygon(((x, 0), (x + step / 2, 0), (x + step / 2 + lean, STAGE), (x + lean / 2, STAGE)), fill=tones[0])
        draw.polygon(((x + step / 2, 0), (x + step, 0), (x + step + lean / 2, STAGE), (x + step / 2 + lean, STAGE)), fill=tones[1])
    draw.polygon(((WIDTH - lean, STAGE), (WIDTH, STAGE - lean), (WIDTH, STAGE)), fill=colours.accent)


def _confetti(draw: ImageDraw.ImageDraw, colours: Palette, rng: random.Random, title: str) -> None:
    tones = (colours.accent, colours.light, colours.middle, blend(colours.accent, colours.light, 0.5))
    for number in range(90):
        x, y, length, a = rng.uniform(0, WIDTH), rng.uniform(0, STAGE), rng.uniform(30, 80), rng.uniform(0, math.pi)
        if number % 3 == 0:
            draw.ellipse((x - length / 2, y - length / 2, x + length / 2, y + length / 2), fill=tones[number % 4])
        else:
            draw.line((x, y, x + length * math.cos(a) * 1.4, y + length * math.sin(a) * 1.4), fill=tones[number % 4], width=34)
    x, y = WIDTH / 2, STAGE / 2
    draw.ellipse((x - 270, y - 270, x + 270, y + 270), fill=colours.light)
    draw.line((x - 130, y + 5, x - 30, y + 105, x + 140, y - 100), fill=colours.dark, width=64, joint="curve")


def _type(draw: ImageDraw.ImageDraw, colours: Palette, rng: random.Random, title: str) -> None:
    shift = rng.uniform(0, 500)
    for row, weight in enumerate((900, 700, 500, 300)):
        tone = colours.accent if row == 0 else (*colours.light, 220 - row * 50)
        draw.text((-shift * (row % 2) - 60, 190 + row * 290), "MOVE move MOVE move", font=letters(330, weight), fill=tone, anchor="lm")


def _titles(draw: ImageDraw.ImageDraw, colours: Palette, rng: random.Random, title: str) -> None:
    for line in range(14):
        swing, pace, shift = rng.uniform(20, 90), rng.uniform(300, 520), rng.uniform(0, 6)
        points = [(x, 140 + line * 75 + swing * math.sin(x / pace + shift)) for x in range(0, WIDTH + 40, 40)]
        draw.line(points, fill=(*colours.light, 40), width=8)
    draw.text((WIDTH / 2, STAGE / 2), title, font=letters(200, 700), fill=colours.light, anchor="mm")
    draw.rectangle((WIDTH / 2 - 260, STAGE / 2 + 160, WIDTH / 2 + 260, STAGE / 2 + 176), fill=colours.accent)


SCENES: dict[str, Painter] = {
    "reveal": _reveal,
    "lower-thirds": _lower_thirds,
    "loaders": _loaders,
    "folds": _folds,
    "confetti": _confetti,
    "type": _type,
    "titles": _titles,
}

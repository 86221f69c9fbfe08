"""Pictures of templates, as pages, and of AI skills, as chats."""

from collections.abc import Callable

from PIL import Image

from .canvas import HEIGHT, WIDTH, Palette, bars, blend, finished, letters, lines_of, palette, plain, seeded_random, sheet

WHITE = (255, 255, 255)
Painter = Callable[[Image.Image, str, Palette], None]


def template_pictures(title: str, scene: str, *, seed: str) -> tuple[bytes, ...]:
    """Return the pages side by side."""
    colours = palette(seeded_random(seed))
    image = plain(blend(colours.light, colours.middle, 0.28))
    SCENES[scene](image, title, colours)
    return (finished(image),)


def skill_pictures(title: str, talk: list[str], *, seed: str) -> tuple[bytes, ...]:
    """Return a chat: a question, and the answers of an assistant with the skill."""
    colours = palette(seeded_random(seed))
    image = plain(blend(colours.middle, colours.dark, 0.35))
    draw = sheet(image, (180, 130, WIDTH - 180, HEIGHT + 60), colours.light, 60)
    draw.ellipse((270, 210, 390, 330), fill=colours.accent)
    draw.text((430, 270), title, font=letters(110, 700), fill=colours.dark, anchor="lm")
    draw.line((180, 400, WIDTH - 180, 400), fill=blend(colours.light, colours.middle, 0.4), width=6)
    asked, *answers = talk
    face = letters(84, 500)
    lines = lines_of(asked, face, 1300)
    right, width = WIDTH - 270, max(map(face.getlength, lines)) + 140
    draw.rounded_rectangle((right - width, 470, right, 470 + 110 * len(lines) + 80), 60, fill=colours.dark)
    y = 565
    for line in lines:
        draw.text((right - width + 70, y), line, font=face, fill=colours.light, anchor="lm")
        y += 110
    y += 60
    for answer in answers:
        draw.ellipse((284, y - 16, 316, y + 16), fill=colours.accent)
        for line in lines_of(answer, face, WIDTH - 700):
            draw.text((370, y), line, font=face, fill=colours.dark, anchor="lm")
            y += 108
        y += 36
    return (finished(image),)


def _deck(image: Image.Image, title: str, colours: Palette) -> None:
    for number, (x, y) in enumerate(((140, 150), (1240, 150), (140, 860), (1240, 860))):
        tone = (colours.dark, WHITE, WHITE, colours.accent)[number]
        draw = sheet(image, (x, y, x + 1020, y + 590), tone)
        ink = WHITE if number in {0, 3} else colours.dark
        words = (title, "The problem", "How it grows", "Talk to us")[number]
        draw.text((x + 80, y + (290 if number in {0, 3} else 110)), words, font=letters(100, 700), fill=ink, anchor="lm")
        if number == 1:
            bars(draw, (x + 80, y + 220, x + 600, y + 520), blend(WHITE, colours.dark, 0.22), step=62)
            draw.ellipse((x + 690, y + 220, x + 940, y + 470), fill=colours.middle)
        if number == 2:
            for bar in range(6):
                left = x + 90 + bar * 145
                draw.rectangle((left, y + 500 - 50 * (bar + 1), left + 95, y + 520), fill=colours.accent if bar == 5 else colours.middle)


def _report(image: Image.Image, title: str, colours: Palette) -> None:
    draw = sheet(image, (260, 140, 1140, HEIGHT - 120), colours.dark)
    draw.rectangle((260, 820, 1140, HEIGHT - 120), fill=colours.middle)
    draw.ellipse((620, 980, 1500 - 360, 1480), fill=colours.accent)
    for number, line in enumerate(lines_of(title, letters(120, 700), 700)):
        draw.text((350, 300 + number * 140), line, font=letters(120, 700), fill=colours.light, anchor="lm")
    draw = sheet(image, (1260, 140, 2140, HEIGHT - 120), WHITE)
    draw.text((1350, 260), "Results", font=letters(90, 700), fill=colours.dark, anchor="lm")
    bars(draw, (1350, 350, 2050, 640), blend(WHITE, colours.dark, 0.22), step=60)
    points = [(1350 + number * 117, 1100 - height) for number, height in enumerate((60, 140, 110, 230, 200, 320, 390))]
    draw.line(points, fill=colours.accent, width=18, joint="curve")
    draw.line((1350, 1130, 2060, 1130), fill=blend(WHITE, colours.dark, 0.4), width=6)
    bars(draw, (1350, 1200, 2050, 1420), blend(WHITE, colours.dark, 0.22), step=60)


def _resume(image: Image.Image, title: str, colours: Palette) -> None:
    draw = sheet(image, (560, 110, 1840, HEIGHT + 60), WHITE)
    draw.rectangle((560, 110, 980, HEIGHT + 60), fill=colours.dark)
    draw.ellipse((640, 200, 900, 460), fill=colours.accent)
    bars(draw, (640, 560, 900, 1500), blend(colours.dark, WHITE, 0.45), step=70, shares=(0.6, 1, 0.9, 0.7, 0))
    draw.text((1060, 270), "Ines Calloway", font=letters(120, 700), fill=colours.dark, anchor="lm")
    draw.text((1060, 390), "Editorial designer", font=letters(70, 500), fill=colours.middle, anchor="lm")
    for number, words in enumerate(("Experience", "Education", "Awards")):
        y = 560 + number * 360
        draw.text((1060, y), words, font=letters(70, 700), fill=colours.dark, anchor="lm")
        bars(draw, (1060, y + 80, 1740, y + 280), blend(WHITE, colours.dark, 0.22), step=58)


def _landing(image: Image.Image, title: str, colours: Palette) -> None:
    draw = sheet(image, (180, 140, WIDTH - 180, HEIGHT + 80), WHITE, 36)
    draw.rounded_rectangle((180, 140, WIDTH - 180, 280), 36, fill=blend(colours.light, colours.dark, 0.12))
    for number in range(3):
        draw.ellipse((240 + number * 80, 186, 288 + number * 80, 234), fill=(colours.accent, colours.middle, colours.dark)[number])
    draw.rectangle((180, 240, WIDTH - 180, 1080), fill=colours.dark)
    for number, line in enumerate(("Your product,", "out in the open.")):
        draw.text((320, 470 + number * 170), line, font=letters(150, 700), fill=colours.light, anchor="lm")
    draw.rounded_rectangle((320, 800, 800, 950), 75, fill=colours.accent)
    draw.text((560, 875), "Start now", font=letters(80, 700), fill=colours.dark, anchor="mm")
    draw.rounded_rectangle((1560, 380, 2060, 1080), 60, fill=colours.middle)
    draw.rounded_rectangle((1600, 430, 2020, 1080), 40, fill=colours.light)
    for number in range(3):
        x = 320 + number * 600
        draw.rounded_rectangle((x, 1180, x + 160, 1340), 40, fill=blend(colours.light, colours.middle, 0.5))
        bars(draw, (x, 1390, x + 480, 1560), blend(WHITE, colours.dark, 0.22), step=62)


def _invitation(image: Image.Image, title: str, colours: Palette) -> None:
    for x, ground, ink in ((260, colours.light, colours.dark), (1260, colours.accent, colours.dark)):
        draw = sheet(image, (x, 150, x + 880, HEIGHT - 130), ground)
        draw.rectangle((x + 60, 210, x + 820, HEIGHT - 190), outline=ink, width=6)
        for number, (words, size, weight) in enumerate(
            (("You are invited", 76, 500), ("Summer", 170, 700), ("Supper", 170, 700), ("21 June, 7 pm", 76, 500))
        ):
            draw.text((x + 440, 460 + number * 210), words, font=letters(size, weight), fill=ink, anchor="mm")
        draw.ellipse((x + 350, HEIGHT - 420, x + 530, HEIGHT - 240), fill=colours.middle)


def _recipe(image: Image.Image, title: str, colours: Palette) -> None:
    draw = sheet(image, (300, 130, 2100, HEIGHT - 110), WHITE)
    draw.rectangle((300, 130, 1140, HEIGHT - 110), fill=colours.middle)
    for radius, tone in ((360, colours.light), (290, blend(colours.light, colours.middle, 0.25)), (210, colours.accent)):
        draw.ellipse((720 - radius, 800 - radius, 720 + radius, 800 + radius), fill=tone)
    for number, line in enumerate(("Roasted", "pepper soup")):
        draw.text((1230, 280 + number * 135), line, font=letters(120, 700), fill=colours.dark, anchor="lm")
    draw.text((1230, 570), "40 minutes, serves four", font=letters(64, 500), fill=colours.middle, anchor="lm")
    for number in range(5):
        y = 720 + number * 145
        draw.ellipse((1230, y - 40, 1310, y + 40), fill=colours.accent)
        draw.text((1270, y), str(number + 1), font=letters(56, 700), fill=WHITE, anchor="mm")
        bars(draw, (1350, y - 34, 2010, y + 60), blend(WHITE, colours.dark, 0.22), step=50)


SCENES: dict[str, Painter] = {
    "deck": _deck,
    "report": _report,
    "resume": _resume,
    "landing": _landing,
    "invitation": _invitation,
    "recipe": _recipe,
}

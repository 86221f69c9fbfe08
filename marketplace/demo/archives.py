"""Builds the archives that the demo listings deliver: motion, templates, presets and AI skills."""

import io
import json
import random
import zipfile
from collections.abc import Mapping

from .looks import Look
from .pictures.canvas import Colour, palette, seeded_random

# Fixed, so that the same content gives the same bytes.
PACKED = (2026, 1, 1, 0, 0, 0)
LUT_POINTS = 17


def zipped(files: Mapping[str, bytes | str]) -> bytes:
    """Return a zip of the files, the same bytes each time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(path, PACKED)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def motion_files(title: str, seed: str) -> dict[str, str]:
    """Return Lottie animations: a shape that turns, grows and fades, in three moods."""
    rng = seeded_random(seed)
    colours = palette(rng)
    moods = {"calm": 120, "lively": 60, "loop": 90}
    return {f"{mood}.json": json.dumps(_lottie(f"{title} {mood}", frames, colours, rng), indent=1) for mood, frames in moods.items()}


def _lottie(name: str, frames: int, colours: tuple[Colour, ...], rng: random.Random) -> dict[str, object]:
    layers = []
    for index, colour in enumerate(colours):
        turn = rng.choice((90, 180, 360)) * (-1) ** index
        shape = {"ty": "rc", "p": {"a": 0, "k": [0, 0]}, "s": {"a": 0, "k": [320 - 80 * index] * 2}, "r": {"a": 0, "k": 24 * (index + 1)}}
        fill = {"ty": "fl", "c": {"a": 0, "k": [round(part / 255, 3) for part in colour]}, "o": {"a": 0, "k": 100}}
        placed = {"ty": "tr", "p": {"a": 0, "k": [0, 0]}, "s": {"a": 0, "k": [100, 100]}, "r": {"a": 0, "k": 0}, "o": {"a": 0, "k": 100}}
        moved = {
            "p": {"a": 0, "k": [540, 540, 0]},
            "r": {"a": 1, "k": [_key(0, [0]), _key(frames, [turn])]},
            "s": {"a": 1, "k": [_key(0, [60, 60, 100]), _key(frames // 2, [110, 110, 100]), _key(frames, [60, 60, 100])]},
            "o": {"a": 0, "k": 80},
        }
        group = {"ty": "gr", "it": [shape, fill, placed]}
        layers.append(
            {"ty": 4, "ind": index + 1, "nm": f"Shape {index + 1}", "ip": 0, "op": frames, "st": 0, "ks": moved, "shapes": [group]}
        )
    return {"v": "5.9.0", "nm": name, "fr": 30, "ip": 0, "op": frames, "w": 1080, "h": 1080, "layers": layers}


def _key(frame: int, value: list[int]) -> dict[str, object]:
    return {"t": frame, "s": value, "i": {"x": [0.6], "y": [1]}, "o": {"x": [0.4], "y": [0]}}


def template_files(title: str, seed: str) -> dict[str, str]:
    """Return a page, its style sheet and a cover in the pack's colours."""
    dark, middle, light, _ = ("#{:02x}{:02x}{:02x}".format(*colour) for colour in palette(seeded_random(seed)))
    page = f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><link rel="stylesheet" href="style.css"></head>
<body>
<header><h1>{title}</h1><p>Replace this sentence with yours.</p></header>
<main><article><h2>First</h2><p>Say what it is.</p></article><article><h2>Second</h2><p>Say why it matters.</p></article></main>
</body>
</html>
"""
    style = f"""body {{ margin: 0; font: 1rem/1.5 sans-serif; color: {dark}; background: {light}; }}
header {{ padding: 4rem 2rem; color: {light}; background: linear-gradient({dark}, {middle}); }}
main {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 2rem; padding: 2rem; }}
"""
    cover = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1600 900"><rect width="1600" height="900" fill="{dark}"/>
<circle cx="1200" cy="450" r="320" fill="{middle}"/><text x="120" y="480" font-size="96" fill="{light}">{title}</text></svg>
"""
    return {
        "index.html": page,
        "style.css": style,
        "cover.svg": cover,
        "content.json": json.dumps({"title": title, "sections": 2}, indent=1),
    }


def preset_files(title: str, look: Look, seed: str) -> dict[str, str]:
    """Return a colour look-up table, a palette to go with it and the settings as JSON."""
    rows = [f'TITLE "{title}"', f"LUT_3D_SIZE {LUT_POINTS}"]
    steps = [number / (LUT_POINTS - 1) for number in range(LUT_POINTS)]
    # Red changes first.
    tuned = (look.tuned(red, green, blue) for blue in steps for green in steps for red in steps)
    rows += [" ".join(f"{part:.4f}" for part in colour) for colour in tuned]
    swatches = "".join(f"{red:3} {green:3} {blue:3} Tone\n" for red, green, blue in palette(seeded_random(seed)))
    settings = {"name": title, "lift": look.lift, "warmth": look.warmth, "saturation": look.strength}
    return {
        "look.cube": "\n".join(rows) + "\n",
        "palette.gpl": f"GIMP Palette\nName: {title}\n{swatches}",
        "settings.json": json.dumps(settings),
    }


def skill_files(title: str, slug: str, summary: str) -> dict[str, str]:
    """Return an AI skill: SKILL.md with its front matter, a reference and a checklist."""
    skill = f"""---
name: {slug}
description: {summary}
---

# {title}

{summary}

## When to use

- The user asks for help that this skill's description names.
- The material is at hand as text or as files.

## Steps

1. Read the material whole before writing anything.
2. Follow `references/method.md` in its order.
3. Check the result against `references/checklist.md` and say what could not be checked.

## Limits

- Do not invent facts that the material does not hold.
- Ask when two readings of the request lead to different results.
"""
    method = f"# Method\n\n1. State the goal of {title} in one sentence.\n2. List what the material gives.\n3. Draft, then cut a third.\n4. Name what is missing.\n"
    checklist = "# Checklist\n\n- [ ] Every claim has its source.\n- [ ] Names and numbers are as in the material.\n- [ ] The result stands on its own.\n"
    return {"SKILL.md": skill, "references/method.md": method, "references/checklist.md": checklist}

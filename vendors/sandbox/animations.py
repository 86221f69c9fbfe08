"""Renders Lottie animations as animated WebP with a still picture, for the listing's page."""

import io
import json
import time
from contextlib import suppress
from typing import Any, BinaryIO

from PIL import Image
from thorvg_python.animation.lottie import LottieAnimation
from thorvg_python.base import Colorspace, Result
from thorvg_python.canvas.sw import SwCanvas
from thorvg_python.engine import Engine

from . import archive_files, zips
from .exceptions import Rejected, Unsupported
from .preview_images import webp
from .sniffing import HEAD_BYTES, sniff
from .zip_directory import read_directory

# The limits of a file's animations, of the JSON of each, and of the WebP that is made of it.
MAX_ANIMATIONS, SOURCE_BYTES = 8, 2 * 2**20
MAX_SECONDS, FRAMES_PER_SECOND, SIDE_PIXELS, WEBP_BYTES = 6, 20, 320, 300 * 2**10
# After this processor time no further animation is begun.
PROCESSOR_SECONDS = 30
QUALITIES = (60, 35, 15)
# The folders of the animations in a dotLottie archive, in versions 1 and 2 of the format.
FOLDERS = ("animations/", "a/")
REQUIRED_KEYS = {"w", "h", "fr", "ip", "op", "layers"}


def run(file: BinaryIO, size: int, paths: list[str]) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `animations` task of the sandbox: return dimensions and durations, and for each animation WebP and its still picture.

    What is not a Lottie animation among the `paths` in an archive, or cannot be drawn, is left out.
    """
    found: list[dict[str, Any]] = []
    blobs: list[bytes] = []
    for path in paths:
        file.seek(0)
        with suppress(Exception):
            facts, moving, still = _rendered(_source(archive_files.member(file, size, path)))
            found.append(facts | {"path": path})
            blobs += [moving, still]
        if len(found) == MAX_ANIMATIONS or time.process_time() > PROCESSOR_SECONDS:
            break
    return {"animations": found}, blobs


def _source(content: bytes) -> bytes:
    """Return the JSON of an animation, or of the first one in a dotLottie archive."""
    if sniff(content[:HEAD_BYTES]) == "zip":
        file = io.BytesIO(content)
        names = [entry.path for _, entry in read_directory(file, len(content)).entries()]
        path = next((name for name in names if name.startswith(FOLDERS) and name.endswith(".json")), "")
        content = zips.read_member(file, len(content), path, SOURCE_BYTES) or b""
    if len(content) > SOURCE_BYTES:
        raise Rejected("The animation is larger than 2 MiB.")
    lottie = json.loads(content)
    if not isinstance(lottie, dict) or not lottie.keys() >= REQUIRED_KEYS:
        raise Unsupported("It is not a Lottie animation.")
    return content


def _rendered(content: bytes) -> tuple[dict[str, Any], bytes, bytes]:
    """Return dimensions and duration, the animation, and one of its frames."""
    canvas, animation = SwCanvas(engine := Engine(threads=0)), LottieAnimation(engine)
    picture = animation.get_picture()
    if picture.load_data(content, "lottie", None, copy=True) != Result.SUCCESS:
        raise Unsupported("It is not a Lottie animation.")
    _, *sides = picture.get_size()
    width, height = (max(1, round(side * SIDE_PIXELS / max(sides))) for side in sides)
    canvas.set_target(width, height, cs=Colorspace.ABGR8888S)
    picture.set_size(width, height)
    canvas.add(picture)
    (_, total), (_, duration) = animation.get_total_frame(), animation.get_duration()
    if total < 1 or not 0 < duration < float("inf"):
        raise Rejected("The animation has no frames.")
    shown = min(duration, MAX_SECONDS)
    count = max(1, round(shown * min(FRAMES_PER_SECOND, total / duration)))
    frames = [_frame(canvas, animation, number / count * shown / duration * total) for number in range(count)]
    facts = {"width": width, "height": height, "durationSeconds": round(duration, 2)}
    # Of three frames the one with the most content, which takes the most bytes: many animations begin and end empty.
    still = max((webp(frames[count * quarter // 4], quality=80) for quarter in (1, 2, 3)), key=len)
    return facts, _animated_webp(frames, round(shown * 1000 / count)), still


def _frame(canvas: Any, animation: Any, number: float) -> Image.Image:
    animation.set_frame(number)
    canvas.update()
    canvas.draw(clear=True)
    canvas.sync()
    frame: Image.Image = canvas.get_pillow()
    return frame.copy()


def _animated_webp(frames: list[Image.Image], milliseconds: int) -> bytes:
    """Return the frames as WebP that plays again and again, in the best quality that is small enough."""
    for quality in QUALITIES:
        content = webp(frames[0], save_all=True, append_images=frames[1:], duration=milliseconds, loop=0, quality=quality)
        if len(content) <= WEBP_BYTES:
            return content
    raise Rejected("The animation is too large as a picture.")

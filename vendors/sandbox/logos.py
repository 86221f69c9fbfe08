"""Logos for documents: re-encoded as JPEG on white, without metadata."""

import io
from typing import Any, BinaryIO

from PIL import Image

from . import images
from .exceptions import Unsupported, rejecting
from .preview_images import PIXELS, check, fit, open_image
from .sniffing import HEAD_BYTES, sniff

WIDTH, HEIGHT = 900, 300
QUALITY = 90


def run(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[bytes]]:
    """Run the task of the sandbox: return the dimensions, and the image as JPEG of at most WIDTH by HEIGHT pixels."""
    name = sniff(file.read(HEAD_BYTES))
    if name not in PIXELS:
        raise Unsupported("Send a JPG, PNG or WebP image.")
    check(file, size, name)
    file.seek(0)
    with rejecting(images.DAMAGED):
        image = fit(open_image(file), WIDTH, HEIGHT)
    paper = Image.new("RGB", image.size, "white")
    paper.paste(image, mask=image if image.mode == "RGBA" else None)
    target = io.BytesIO()
    paper.save(target, "JPEG", quality=QUALITY, optimize=True)
    return {"width": paper.width, "height": paper.height}, [target.getvalue()]

"""Logos for documents: re-encoded as JPEG on white, without metadata."""

import io
from typing import Any, BinaryIO

from PIL import Image

from .preview_images import fit, open_image

WIDTH, HEIGHT = 900, 300
QUALITY = 90


def run(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `logo` task of the sandbox: return the image as JPEG of at most WIDTH by HEIGHT pixels."""
    image = fit(open_image(file, size), WIDTH, HEIGHT)
    paper = Image.new("RGB", image.size, "white")
    paper.paste(image, mask=image if image.mode == "RGBA" else None)
    target = io.BytesIO()
    paper.save(target, "JPEG", quality=QUALITY, optimize=True)
    return {}, [target.getvalue()]

"""Images by their headers: dimensions, depth and colour; no pixel is decoded."""

import struct
from typing import Any, BinaryIO

from PIL import Image, UnidentifiedImageError

from .verdicts import Rejected

FORMATS = {"jpg": "JPEG", "png": "PNG", "webp": "WEBP"}
SIDE = 300_000
COLOUR_MODES = {
    "1": "bitmap",
    "L": "grayscale",
    "LA": "grayscale with alpha",
    "I": "grayscale",
    "I;16": "grayscale",
    "I;16B": "grayscale",
    "P": "indexed",
    "RGB": "RGB",
    "RGBA": "RGB with alpha",
    "RGBX": "RGB",
    "CMYK": "CMYK",
    "YCbCr": "YCbCr",
}
PSD = struct.Struct(">4sH6sHIIHH")
PSD_MODES = {0: "bitmap", 1: "grayscale", 2: "indexed", 3: "RGB", 4: "CMYK", 7: "multichannel", 8: "duotone", 9: "Lab"}


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return width, height, bit depth and colour mode."""
    if name == "psd":
        return _photoshop(file.read(PSD.size))
    # Only headers are read here, and deliverables may be larger than what anyone would show.
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(file, formats=[FORMATS[name]]) as image:
            width, height, mode, frames = image.width, image.height, image.mode, getattr(image, "n_frames", 1)
            depth = getattr(image, "bits", 8)
            if name == "png":
                image.verify()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, struct.error) as error:
        raise Rejected("The image is damaged.") from error
    if name == "png":
        # Pillow opens 16-bit colour as 8-bit.
        file.seek(24)
        depth = file.read(1)[0]
    return _facts(width, height, depth, COLOUR_MODES.get(mode, mode)) | ({"frameCount": frames} if frames > 1 else {})


def _photoshop(head: bytes) -> dict[str, Any]:
    if len(head) < PSD.size:
        raise Rejected("The image was cut off.")
    _, version, reserved, channels, height, width, depth, mode = PSD.unpack(head)
    known = version in {1, 2} and not reserved.strip(b"\0") and depth in {1, 8, 16, 32} and mode in PSD_MODES
    if not known or not 0 < channels <= 56:
        raise Rejected("The Photoshop document's header is damaged.")
    return _facts(width, height, depth, PSD_MODES[mode]) | {"channels": channels}


def _facts(width: int, height: int, depth: int, colour: str) -> dict[str, Any]:
    if not 0 < width <= SIDE or not 0 < height <= SIDE:
        raise Rejected("The image's dimensions are impossible.")
    return {"width": width, "height": height, "bitDepth": depth, "colourMode": colour}

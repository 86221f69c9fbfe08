"""Inspects images by their headers, without decoding a pixel: with Pillow, except Photoshop documents, of which Pillow reads only those of 8 bits."""

import struct
from typing import Any, BinaryIO, cast

from PIL import Image

from .exceptions import Rejected, rejecting
from .source import ReadLimitedFile

MAX_SIDE = 300_000
# Pillow reads a WebP, and each chunk of a PNG, as a whole.
MAX_BYTES = {"png": 256 * 2**20, "webp": 128 * 2**20}
FORMATS = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP"}
MODES = {
    "1": "grayscale",
    "L": "grayscale",
    "I;16": "grayscale",
    "LA": "grayscale with alpha",
    "P": "indexed",
    "RGB": "RGB",
    "RGBA": "RGB with alpha",
    "CMYK": "CMYK",
}
PSD = struct.Struct(">4sH6sHIIHH")
PSD_MODES = {0: "bitmap", 1: "grayscale", 2: "indexed", 3: "RGB", 4: "CMYK", 7: "multichannel", 8: "duotone", 9: "Lab"}
DAMAGED = "The image is damaged, or it was cut off."
# Pillow's own limit of pixels does not apply: pixels are only decoded for previews, which have limits of their own.
Image.MAX_IMAGE_PIXELS = None


def inspect(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return width, height, bit depth and colour mode."""
    if size > MAX_BYTES.get(format_name, size):
        raise Rejected(f"The image is larger than {MAX_BYTES[format_name] // 2**20} MiB.")
    with rejecting(DAMAGED):
        found = _photoshop(file, size) if format_name == "psd" else _picture(file, size, format_name)
    if not 0 < found["width"] <= MAX_SIDE or not 0 < found["height"] <= MAX_SIDE:
        raise Rejected("The image's dimensions are impossible.")
    return found


def _picture(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    head = file.read(32)
    with Image.open(cast("BinaryIO", ReadLimitedFile(file, size)), formats=[FORMATS[format_name]]) as image:
        found = {"width": image.width, "height": image.height, "bitDepth": 8, "colourMode": MODES[image.mode]}
        if format_name == "jpg":
            return found
        end = int.from_bytes(head[4:8], "little") + 8
        if format_name == "png":
            if head[12:16] != b"IHDR":
                raise Rejected(DAMAGED)
            found |= {"bitDepth": head[24]} | ({"transparency": True} if "transparency" in image.info else {})
            # Reads all chunks and verifies their checksums; only the checksum of the last one remains unread.
            image.verify()
            end = file.tell() + 4
            if end > size:
                raise Rejected(DAMAGED)
        frames = getattr(image, "n_frames", 1)
        return found | ({"frameCount": frames} if frames > 1 else {}) | ({"trailingBytes": size - end} if end < size else {})


def _photoshop(file: BinaryIO, size: int) -> dict[str, Any]:
    _, version, reserved, channels, height, width, depth, mode = PSD.unpack(file.read(PSD.size))
    known = version in {1, 2} and not reserved.strip(b"\0") and depth in {1, 8, 16, 32} and mode in PSD_MODES
    if not known or not 0 < channels <= 56:
        raise Rejected("The Photoshop document's header is damaged.")
    # The sections of colours, resources and layers. Each begins with its length, which has 8 bytes for the layers of a PSB file.
    for wide in (4, 4, 8 if version == 2 else 4):
        length = int.from_bytes(file.read(wide), "big")
        if file.tell() + length > size:
            raise Rejected("A section of the Photoshop document lies outside of the file.")
        file.seek(length, 1)
    rows = channels * height
    least = {0: rows * -(-width * depth // 8), 1: rows * (4 if version == 2 else 2)}
    coding = int.from_bytes(file.read(2), "big")
    if file.tell() + least.get(coding, 0) > size:
        raise Rejected("The Photoshop document claims a larger picture than it holds.")
    return {"width": width, "height": height, "bitDepth": depth, "colourMode": PSD_MODES[mode], "channels": channels}

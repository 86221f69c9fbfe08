"""Preview images: re-encoded upright in sRGB in two sizes, without metadata."""

import io
from contextlib import suppress
from typing import Any, BinaryIO

from PIL import Image, ImageCms, ImageOps

from . import images
from .exceptions import Rejected, Unsupported, rejecting
from .sniffing import HEAD_BYTES, sniff

# From the bytes that each decoder needs per pixel, so that none takes more than 300 MiB.
MAX_PIXELS = {"jpg": 40_000_000, "png": 28_000_000, "webp": 15_000_000}
MAX_SIDE = 20_000
# Each scan of a progressive JPEG takes as long to decode as the whole image; encoders write about ten.
MAX_SCANS = 64
FULL_PIXELS, CARD_PIXELS = 1920, 640
STRIP_ROWS = 512
QUALITY = 82
PROFILE_BYTES = 4 * 2**20


def run(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `image` task of the sandbox: return the dimensions, and the image as WebP in the full and the card size."""
    image = open_image(file, size)
    full, card = fit(image, FULL_PIXELS, FULL_PIXELS), fit(image, CARD_PIXELS, CARD_PIXELS)
    sizes = [{"width": each.width, "height": each.height} for each in (full, card)]
    return {"sizes": sizes}, [webp(full), webp(card)]


def open_image(file: BinaryIO, size: int) -> Image.Image:
    """Decode a JPG, PNG or WebP image: upright, in sRGB, at most `FULL_PIXELS` wide and high."""
    format_name = sniff(file.read(HEAD_BYTES))
    if format_name not in MAX_PIXELS:
        raise Unsupported("Send a JPG, PNG or WebP image.")
    _check(file, size, format_name)
    file.seek(0)
    with rejecting(images.DAMAGED):
        return _decoded(file)


def _check(file: BinaryIO, size: int, format_name: str) -> None:
    """Refuse images that would take too long, or too much memory, to decode; no pixel is decoded."""
    file.seek(0)
    found = images.inspect(file, size, format_name)
    if found["width"] * found["height"] > MAX_PIXELS[format_name] or max(found["width"], found["height"]) > MAX_SIDE:
        raise Rejected(f"The image has more than {MAX_PIXELS[format_name] / 1e6:.0f} million pixels, or a side of more than 20,000.")
    if format_name == "jpg":
        file.seek(0)
        # Compressed data never contains the marker of a scan; an embedded thumbnail adds one.
        if file.read().count(b"\xff\xda") > MAX_SCANS:
            raise Rejected("The image is made of more passes than any encoder writes.")


def _decoded(file: BinaryIO) -> Image.Image:
    with Image.open(file, formats=list(images.FORMATS.values())) as opened:
        profile = opened.info.get("icc_profile")
        # For JPEG: decoding at half or a quarter of the size takes a fraction of the time.
        opened.draft(None, (FULL_PIXELS, FULL_PIXELS))
        opened.load()
        image = _in_resizable_mode(opened)
        image.thumbnail((FULL_PIXELS, FULL_PIXELS), Image.Resampling.LANCZOS, reducing_gap=2.0)
        # The orientation is in the original's EXIF data; turning the smaller image is faster.
        image.info["exif"] = opened.getexif().tobytes()
        ImageOps.exif_transpose(image, in_place=True)
        return _in_srgb(image, profile)


def _in_resizable_mode(image: Image.Image) -> Image.Image:
    """Return the image in a mode that can be resized; the same object where it is in that mode already."""
    if image.mode.startswith("I"):
        return _from_sixteen_bits(image)
    mode = "CMYK" if image.mode == "CMYK" else "RGBA" if image.has_transparency_data else "RGB"
    return image if image.mode == mode else image.convert(mode)


def _from_sixteen_bits(image: Image.Image) -> Image.Image:
    """Convert 16-bit grey to 8 bits, in strips to save memory: Pillow's own conversion clips the values instead of scaling them."""
    grey = Image.new("L", image.size)
    for top in range(0, image.height, STRIP_ROWS):
        strip = image.crop((0, top, image.width, min(top + STRIP_ROWS, image.height)))
        grey.paste(strip.convert("I").point(lambda value: value / 256).convert("L"), (0, top))
    return grey


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if profile and len(profile) <= PROFILE_BYTES:
        # An image with a broken colour profile is accepted; it is shown as if it were in sRGB.
        with suppress(ImageCms.PyCMSError, OSError, ValueError):
            return _converted(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)))
    return image if image.mode == "RGBA" else image.convert("RGB")


def _converted(image: Image.Image, profile: ImageCms.ImageCmsProfile) -> Image.Image:
    srgb = ImageCms.createProfile("sRGB")
    plain = image.convert("RGB") if image.mode == "RGBA" else image
    converted = ImageCms.profileToProfile(plain, profile, srgb, outputMode="RGB")
    if converted is None:
        raise ValueError("not converted")
    if image.mode == "RGBA":
        converted.putalpha(image.getchannel("A"))
    return converted


def fit(image: Image.Image, width: int, height: int) -> Image.Image:
    """Return a resized copy. It is pasted onto a new image, because saving the opened one would keep its metadata."""
    copy = image.copy()
    copy.thumbnail((width, height), Image.Resampling.LANCZOS)
    fresh = Image.new(copy.mode, copy.size)
    fresh.paste(copy)
    return fresh


def webp(image: Image.Image, quality: int = QUALITY, **options: Any) -> bytes:
    """Return the image as WebP."""
    target = io.BytesIO()
    image.save(target, "WEBP", quality=quality, method=4, **options)
    return target.getvalue()

"""Preview images made anew: upright, in sRGB, in two sizes, without anything that the original carried along."""

import io
from typing import Any, BinaryIO

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from .sniffing import HEAD_BYTES, sniff
from .verdicts import Rejected, Unsupported

FORMATS = ("JPEG", "PNG", "WEBP")
TAKEN = {"jpg", "png", "webp"}
# What every decoder can hold in the memory that the child has, transparency and second canvas included.
PIXELS = 40_000_000
SIDE = 20_000
FULL, CARD = 1920, 640
QUALITY = 82


def run(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[bytes]]:
    """Return the dimensions and the full and card sizes as WebP; the job of the worker."""
    if sniff(file.read(HEAD_BYTES)) not in TAKEN:
        raise Unsupported("Send a JPG, PNG or WebP image.")
    file.seek(0)
    # We refuse ourselves, in our words, before a pixel is decoded.
    Image.MAX_IMAGE_PIXELS = None
    try:
        image = _open(file)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise Rejected("The image is damaged.") from error
    full, card = _fit(image, FULL), _fit(image, CARD)
    sizes = [{"width": each.width, "height": each.height} for each in (full, card)]
    return {"sizes": sizes}, [_webp(full), _webp(card)]


def _open(file: BinaryIO) -> Image.Image:
    """Return the picture as it should be seen, at most a little larger than needed."""
    with Image.open(file, formats=FORMATS) as opened:
        if opened.width * opened.height > PIXELS or max(opened.size) > SIDE:
            raise Rejected("The image has more than 40 million pixels, or a side of more than 20,000.")
        profile = opened.info.get("icc_profile")
        # JPEG decodes at half or a quarter of the size for a fraction of the work.
        opened.draft(None, (FULL, FULL))
        opened.load()
        image = ImageOps.exif_transpose(opened)
        see_through = image.has_transparency_data
        image = _in_colour(image, see_through=see_through)
        image.thumbnail((FULL, FULL), Image.Resampling.LANCZOS, reducing_gap=2.0)
        return _in_srgb(image, profile)


def _in_colour(image: Image.Image, *, see_through: bool) -> Image.Image:
    if image.mode.startswith("I"):
        # 16-bit grey: Pillow's own conversion cuts instead of scaling.
        return image.convert("I").point(lambda value: value / 256).convert("L").convert("RGB")
    if image.mode == "CMYK":
        return image
    return image.convert("RGBA" if see_through else "RGB")


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if profile and image.mode in {"RGB", "CMYK"}:
        try:
            converted = ImageCms.profileToProfile(
                image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"), outputMode="RGB"
            )
        except (ImageCms.PyCMSError, OSError, ValueError):
            # A broken profile is no reason to refuse a picture; without it colours are a little off.
            converted = None
        if converted is not None:
            return converted
    return image.convert("RGB") if image.mode == "CMYK" else image


def _fit(image: Image.Image, side: int) -> Image.Image:
    """Return a copy on a fresh canvas: saving the opened image would carry its comments along."""
    copy = image.copy()
    copy.thumbnail((side, side), Image.Resampling.LANCZOS)
    fresh = Image.new(copy.mode, copy.size)
    fresh.paste(copy)
    return fresh


def _webp(image: Image.Image) -> bytes:
    target = io.BytesIO()
    image.save(target, "WEBP", quality=QUALITY, method=4)
    return target.getvalue()

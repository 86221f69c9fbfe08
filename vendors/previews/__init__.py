"""Previews made safe to show to everyone: images made anew, fonts sanitized, sounds checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from marketplace.core import bounds
from marketplace.core.errors import BodyTooLarge

from ..sandbox.runner import Limits, look, reader_of_bytes

LIMITS = Limits(cpu_seconds=30, wall_seconds=60)
WEBP = "image/webp"


@dataclass(frozen=True)
class Rendition:
    """A smaller copy of an image."""

    content: bytes = field(repr=False)
    content_type: str
    width: int
    height: int


@dataclass(frozen=True)
class ProcessedPreview:
    """What is stored and served; the uploaded bytes are thrown away, a sound's excepted."""

    content: bytes = field(repr=False)
    content_type: str
    # Dimensions of an image, duration of a sound, names of a font: JSON values.
    details: dict[str, Any]
    # By name: `card` for images, nothing for the others.
    renditions: Mapping[str, Rendition]


def process_image(data: bytes) -> ProcessedPreview:
    """Return a JPG, PNG or WebP as WebP of at most 1920 pixels, with a `card` rendition of at most 640.

    Raises:
        UnsupportedType: the content is another type.
        FileRejected: it is damaged, or has too many pixels.
        BodyTooLarge: more than 20 MiB.
    """
    facts, (full, card) = _look("image", data, bounds.IMAGE_BYTES)
    full_size, card_size = facts["sizes"]
    return ProcessedPreview(full, WEBP, full_size, {"card": Rendition(card, WEBP, card_size["width"], card_size["height"])})


def process_font(data: bytes) -> ProcessedPreview:
    """Return a WOFF or WOFF2 font as the sanitizer that browsers use wrote it.

    Raises:
        UnsupportedType: the content is another type.
        FileRejected: browsers would refuse it, or it unpacks to more than a font.
        BodyTooLarge: more than 20 MiB.
    """
    facts, (content,) = _look("font", data, bounds.FONT_BYTES)
    return ProcessedPreview(content, facts["contentType"], facts["details"], {})


def process_audio(data: bytes) -> ProcessedPreview:
    """Return an MP3, AAC (ADTS or M4A) or WAV as it is, with its duration by its bytes.

    Raises:
        UnsupportedType: the content is another type.
        FileRejected: it cannot be played.
        BodyTooLarge: more than 20 MiB.
    """
    facts, _ = _look("audio", data, bounds.AUDIO_BYTES)
    return ProcessedPreview(data, facts["contentType"], facts["details"], {})


def _look(job: str, data: bytes, maximum_bytes: int) -> tuple[dict[str, Any], list[bytes]]:
    if len(data) > maximum_bytes:
        raise BodyTooLarge(maximumBytes=maximum_bytes)
    return look(job, read_at=reader_of_bytes(data), size=len(data), limits=LIMITS)

"""Previews made safe to show to everyone: images made anew, fonts sanitized, sounds checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from marketplace.core import bounds
from marketplace.core.errors import BodyTooLarge

from ..sandbox.runner import Limits, look, reader_of_bytes

LIMITS = Limits(cpu_seconds=30, wall_seconds=60)
WEBP = "image/webp"
AUDIO_TYPES = {"mp3": "audio/mpeg", "aac": "audio/aac", "m4a": "audio/mp4", "wav": "audio/wav"}


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
    return _look("image", data, bounds.IMAGE_BYTES, _image)


def process_font(data: bytes) -> ProcessedPreview:
    """Return a WOFF or WOFF2 font as the sanitizer that browsers use wrote it.

    Raises:
        UnsupportedType: the content is another type.
        FileRejected: browsers would refuse it, or it unpacks to more than a font.
        BodyTooLarge: more than 20 MiB.
    """
    return _look("font", data, bounds.FONT_BYTES, _font)


def process_audio(data: bytes) -> ProcessedPreview:
    """Return an MP3, AAC (ADTS or M4A) or WAV as it is, with its duration by its bytes.

    Raises:
        UnsupportedType: the content is another type.
        FileRejected: it cannot be played.
        BodyTooLarge: more than 20 MiB.
    """
    return _look("audio", data, bounds.AUDIO_BYTES, lambda facts, _: _sound(facts, data))


def _look(
    job: str, data: bytes, maximum_bytes: int, interpret: Callable[[dict[str, Any], list[bytes]], ProcessedPreview]
) -> ProcessedPreview:
    if len(data) > maximum_bytes:
        raise BodyTooLarge(maximumBytes=maximum_bytes)
    return look(job, read_at=reader_of_bytes(data), size=len(data), limits=LIMITS, interpret=interpret)


# The types stand here and the signatures are asked for: what a child that a file has taken over makes is served to everyone.


def _image(facts: dict[str, Any], blobs: list[bytes]) -> ProcessedPreview:
    (full, card), (full_size, card_size) = blobs, facts["sizes"]
    for content in blobs:
        if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
            raise ValueError("no WebP")
    details = {"width": int(full_size["width"]), "height": int(full_size["height"])}
    return ProcessedPreview(full, WEBP, details, {"card": Rendition(card, WEBP, int(card_size["width"]), int(card_size["height"]))})


def _font(facts: dict[str, Any], blobs: list[bytes]) -> ProcessedPreview:
    (content,) = blobs
    if content[:4] != b"wOF2":
        raise ValueError("no WOFF2")
    return ProcessedPreview(content, "font/woff2", dict(facts["details"]), {})


def _sound(facts: dict[str, Any], data: bytes) -> ProcessedPreview:
    return ProcessedPreview(data, AUDIO_TYPES[facts["format"]], dict(facts["details"]), {})

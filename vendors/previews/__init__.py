"""Makes previews safe to publish: images are re-encoded, fonts sanitized, audio files checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from marketplace.core.errors import BodyTooLarge

from .. import bounds
from ..sandbox.runner import Limits, reader_of_bytes, run_job

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
    """The preview as it is stored and served. The uploaded bytes are discarded, except those of audio files."""

    content: bytes = field(repr=False)
    content_type: str
    # JSON values: dimensions of an image, duration of an audio file, names of a font.
    details: dict[str, Any]
    # By name: `card` for images; other kinds have none.
    renditions: Mapping[str, Rendition]


def process_image(data: bytes, sender: str = "") -> ProcessedPreview:
    """Return a JPG, PNG or WebP as WebP of at most 1920 pixels, with a `card` rendition of at most 640.

    Raises:
        UnsupportedType: the content is another type.
        FileRejected: it is damaged, or has too many pixels.
        BodyTooLarge: more than 20 MiB.
    """
    return _process("image", data, bounds.IMAGE_BYTES, _image, sender)


def process_font(data: bytes, sender: str = "") -> ProcessedPreview:
    """Return a WOFF or WOFF2 font as the sanitizer that browsers use wrote it.

    Raises:
        UnsupportedType: the content is another type.
        FileRejected: browsers would refuse it, or it unpacks to more than the limit.
        BodyTooLarge: more than 20 MiB.
    """
    return _process("font", data, bounds.FONT_BYTES, _font, sender)


def process_audio(data: bytes, sender: str = "") -> ProcessedPreview:
    """Return an MP3, AAC (ADTS or M4A) or WAV unchanged, with its duration computed from its content.

    Raises:
        UnsupportedType: the content is another type.
        FileRejected: it cannot be played.
        BodyTooLarge: more than 20 MiB.
    """
    return _process("audio", data, bounds.AUDIO_BYTES, lambda facts, _: _sound(facts, data), sender)


def _process(
    job: str, data: bytes, maximum_bytes: int, interpret: Callable[[dict[str, Any], list[bytes]], ProcessedPreview], sender: str
) -> ProcessedPreview:
    if len(data) > maximum_bytes:
        raise BodyTooLarge(maximumBytes=maximum_bytes)
    return run_job(job, read_at=reader_of_bytes(data), size=len(data), limits=LIMITS, interpret=interpret, sender=sender)


# The media types are fixed here and the signatures checked, because the output of a compromised child would be served to everyone.


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

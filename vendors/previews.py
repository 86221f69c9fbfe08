"""Makes previews safe to publish: images are re-encoded, fonts sanitized, audio files checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog.models.files import PreviewKind
from marketplace.core.errors import BodyTooLarge

from . import bounds
from .sandbox.runner import Limits, reader_of_bytes, run_in_sandbox
from .sandbox.sniffing import sniff
from .sandbox.sounds import MAX_PEAKS

LIMITS = Limits(cpu_seconds=30, wall_seconds=60)
WEBP = "image/webp"
MAXIMUM_BYTES = {
    PreviewKind.GALLERY: bounds.IMAGE_BYTES,
    PreviewKind.FONT_SPECIMEN: bounds.FONT_BYTES,
    PreviewKind.AUDIO_PREVIEW: bounds.AUDIO_BYTES,
}
AUDIO_TYPES = {"mp3": "audio/mpeg", "aac": "audio/aac", "m4a": "audio/mp4", "wav": "audio/wav"}


@dataclass(frozen=True)
class Rendition:
    """A copy of a preview in another form."""

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
    # By name: `card` of an image, `poster` of an animation.
    renditions: Mapping[str, Rendition]


def process_preview(kind: PreviewKind, data: bytes, sender: str = "") -> ProcessedPreview:
    """Return an uploaded preview as it can be published. `sender` identifies the uploader, as in `run_in_sandbox`.

    An image (JPG, PNG or WebP) becomes WebP of at most 1920 pixels, with a `card` rendition of at most 640. A font (WOFF or WOFF2)
    is rewritten by the sanitizer that browsers use. A sound (MP3, AAC in ADTS or M4A, or WAV) is unchanged; its duration is computed, and
    the waveform of an MP3 or WAV.

    Raises:
        UnsupportedType: the content is of another type.
        FileRejected: it is damaged, has too many pixels or unpacks to too much, or browsers would refuse it.
        BodyTooLarge: it is larger than `MAXIMUM_BYTES`.
    """
    if len(data) > MAXIMUM_BYTES[kind]:
        raise BodyTooLarge(maximumBytes=MAXIMUM_BYTES[kind])
    task, interpret = _TASKS[kind]
    return run_in_sandbox(
        task,
        read_at=reader_of_bytes(data),
        size=len(data),
        limits=LIMITS,
        interpret=lambda result, blobs: interpret(result, blobs, data),
        sender=sender,
    )


# The media types are fixed here and the signatures checked, because the output of a compromised child would be served to everyone.


def _image(result: dict[str, Any], blobs: list[bytes], data: bytes) -> ProcessedPreview:
    (full, card), (full_size, card_size) = blobs, result["sizes"]
    if not all(sniff(content) == "webp" for content in blobs):
        raise ValueError("no WebP")
    details = {"width": int(full_size["width"]), "height": int(full_size["height"])}
    return ProcessedPreview(full, WEBP, details, {"card": Rendition(card, WEBP, int(card_size["width"]), int(card_size["height"]))})


def _font(result: dict[str, Any], blobs: list[bytes], data: bytes) -> ProcessedPreview:
    (content,) = blobs
    if sniff(content) != "woff2":
        raise ValueError("no WOFF2")
    return ProcessedPreview(content, "font/woff2", dict(result["details"]), {})


def _sound(result: dict[str, Any], blobs: list[bytes], data: bytes) -> ProcessedPreview:
    details = dict(result["details"])
    peaks = details.get("peaks", [])
    if len(peaks) > MAX_PEAKS or not all(type(peak) is int and 0 <= peak <= 100 for peak in peaks):
        raise ValueError("peaks")
    return ProcessedPreview(data, AUDIO_TYPES[details["format"]], details, {})


# By kind: the sandbox's task, and what makes the preview of its result.
_TASKS: dict[PreviewKind, tuple[str, Callable[[dict[str, Any], list[bytes], bytes], ProcessedPreview]]] = {
    PreviewKind.GALLERY: ("image", _image),
    PreviewKind.FONT_SPECIMEN: ("font", _font),
    PreviewKind.AUDIO_PREVIEW: ("audio", _sound),
}

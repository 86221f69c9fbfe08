"""Audio previews: accepted by content, stored unchanged."""

from typing import Any, BinaryIO

from .inspecting import facts
from .sniffing import HEAD_BYTES, sniff
from .verdicts import Unsupported

ACCEPTED = {"mp3", "aac", "m4a", "wav"}


def run(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[bytes]]:
    """Run the job of the worker: return the format and the technical details of the audio."""
    name = sniff(file.read(HEAD_BYTES))
    if name not in ACCEPTED:
        raise Unsupported("Send an MP3, AAC or WAV sound.")
    return {"format": name, "details": {"format": name, **facts(file, size, name)}}, []

"""Inspects MP4 audio with tinytag, which is given only the boxes that describe the file."""

import io
import re
from typing import Any, BinaryIO

import tinytag

from .exceptions import Rejected, Unsupported, rejecting
from .sounds import MIN_BYTES_PER_SECOND, sound_details

MAX_BOXES = 1000
DESCRIPTION_BYTES = 16 * 2**20
VIDEO = re.compile(rb"hdlr.{8}vide", re.DOTALL)


def inspect(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return sample rate, channels and duration in seconds."""
    description = _description(file, size)
    if VIDEO.search(description):
        raise Unsupported("The file holds a video. Send its sound alone.")
    with rejecting("The sound is damaged: its description cannot be read."):
        sound = tinytag.TinyTag.get(file_obj=io.BytesIO(description), tags=False)
    if sound.duration is None or not sound.samplerate or not sound.channels or "mp4a" not in (sound.mime_type or ""):
        raise Unsupported("The file is a container without AAC sound.")
    if sound.duration > size / MIN_BYTES_PER_SECOND:
        raise Rejected("The sound claims to be longer than its bytes can hold.")
    return sound_details(sound.samplerate, sound.channels, sound.duration)


def _description(file: BinaryIO, size: int) -> bytes:
    """Return the boxes of an MP4 that name its type and describe its tracks, `ftyp` and `moov`."""
    at, found = 0, b""
    for _ in range(MAX_BOXES):
        if at + 8 > size:
            return found
        file.seek(at)
        head = file.read(16)
        length = int.from_bytes(head[8:] if head[:4] == b"\0\0\0\1" else head[:4], "big") or size - at
        if length < 8 or at + length > size:
            raise Rejected("The sound is damaged: its boxes do not fit.")
        if head[4:8] in {b"ftyp", b"moov"}:
            if len(found) + length > DESCRIPTION_BYTES:
                raise Rejected("The description of the sound is larger than 16 MiB.")
            file.seek(at)
            found += file.read(length)
        at += length
    raise Rejected("The sound is made of too many boxes.")

"""Inspects audio: libsndfile decodes it, tinytag reads MP4, and raw AAC frames are read by `aac`."""

import io
import re
from typing import Any, BinaryIO

import soundfile
import tinytag

from . import aac
from .verdicts import Rejected, Unsupported, rejecting

TRIAL_FRAMES = 4096
BLOCK_FRAMES = 2**16
# A day, the longest duration that is accepted.
SECONDS = 24 * 3600
# What libsndfile gives as the length of a stream that does not state it is larger.
FRAMES = 2**62
# Lower bound of the bytes per second of AAC and Vorbis; upper bound of those of MP3 (320 kbit/s), a tenth of them something else.
LEAST_BYTES, MOST_BYTES = 50, 44_500
# Tags may follow an MP3. The fewest samples are those of three short frames.
TAG_BYTES = 64 * 2**10
LEAST_FRAMES = 3 * 576
BIT_DEPTHS = {"PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "FLOAT": 32, "DOUBLE": 64, "ULAW": 8, "ALAW": 8}
BIT_DEPTHS |= {"IMA_ADPCM": 4, "MS_ADPCM": 4}
# Bounds of what tinytag gets to read of an MP4.
MP4_BOXES = 1000
MP4_BYTES = 16 * 2**20
MP4_VIDEO = re.compile(rb"hdlr.{8}vide", re.DOTALL)


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return sample rate, channels and duration in seconds, and the bit depth where the format has one."""
    match name:
        case "aac":
            found = aac.measure(file, size)
        case "m4a":
            found = _mp4(file, size)
        case "mp3":
            found = _mp3(file, size)
        case _:
            found = _decoded(file, size, name)
    plausible = 0 < found["sampleRate"] <= 1_000_000 and 0 < found["channels"] <= 255
    if not plausible or not 0 <= found["durationSeconds"] <= SECONDS:
        raise Rejected("The sound's sample rate, channels or duration are impossible.")
    return found


def _decoded(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Decode the beginning of a sound, and the end of a FLAC: what the decoder refuses cannot be played."""
    with rejecting("The sound is damaged: it cannot be decoded."), soundfile.SoundFile(file) as sound:
        frames = sound.frames if sound.frames < FRAMES else 0
        if not len(sound.read(TRIAL_FRAMES, dtype="float32")):
            raise Rejected("The sound is empty.")
        if name == "flac" and frames > TRIAL_FRAMES:
            sound.seek(frames - TRIAL_FRAMES)
            if len(sound.read(TRIAL_FRAMES, dtype="float32")) < TRIAL_FRAMES:
                raise Rejected("The sound was cut off.")
        if name == "ogg" and frames / sound.samplerate > 10 + size / LEAST_BYTES:
            raise Rejected("The sound claims to be longer than its bytes can hold.")
        depth = {"bitDepth": BIT_DEPTHS[sound.subtype]} if sound.subtype in BIT_DEPTHS else {}
        return {**_facts(sound, frames / sound.samplerate), **depth}


def _mp3(file: BinaryIO, size: int) -> dict[str, Any]:
    """Decode all of an MP3: its header may state any length, and what follows it may be anything."""
    head = file.read(10)
    tag = sum((byte & 127) << 7 * place for place, byte in enumerate(reversed(head[6:]))) if head[:3] == b"ID3" else 0
    file.seek(0)
    with rejecting("The sound is damaged: it cannot be decoded."), soundfile.SoundFile(file) as sound:
        frames = 0
        while block := len(sound.read(BLOCK_FRAMES, dtype="int16")):
            frames += block
        seconds = frames / sound.samplerate
        if size - tag > TAG_BYTES + MOST_BYTES * seconds or frames < LEAST_FRAMES:
            raise Rejected("The sound is damaged: most of it is not made of audio frames.")
        return {**_facts(sound, seconds), "bitrate": round((size - tag) * 8 / seconds)}


def _facts(sound: soundfile.SoundFile, seconds: float) -> dict[str, Any]:
    return {"sampleRate": sound.samplerate, "channels": sound.channels, "durationSeconds": round(seconds, 3)}


def _mp4(file: BinaryIO, size: int) -> dict[str, Any]:
    description = _mp4_description(file, size)
    if MP4_VIDEO.search(description):
        raise Unsupported("The file holds a video. Send its sound alone.")
    with rejecting("The sound is damaged: its description cannot be read."):
        sound = tinytag.TinyTag.get(file_obj=io.BytesIO(description), tags=False)
    if sound.duration is None or not sound.samplerate or not sound.channels or "mp4a" not in (sound.mime_type or ""):
        raise Unsupported("The file is a container without AAC sound.")
    if sound.duration > size / LEAST_BYTES:
        raise Rejected("The sound claims to be longer than its bytes can hold.")
    return {"sampleRate": sound.samplerate, "channels": sound.channels, "durationSeconds": round(sound.duration, 3)}


def _mp4_description(file: BinaryIO, size: int) -> bytes:
    """Return the boxes of an MP4 that name its type and describe its tracks, `ftyp` and `moov`."""
    at, found = 0, b""
    for _ in range(MP4_BOXES):
        if at + 8 > size:
            return found
        file.seek(at)
        head = file.read(16)
        length = int.from_bytes(head[8:] if head[:4] == b"\0\0\0\1" else head[:4], "big") or size - at
        if length < 8 or at + length > size:
            raise Rejected("The sound is damaged: its boxes do not fit.")
        if head[4:8] in {b"ftyp", b"moov"}:
            if len(found) + length > MP4_BYTES:
                raise Rejected("The description of the sound is larger than 16 MiB.")
            file.seek(at)
            found += file.read(length)
        at += length
    raise Rejected("The sound is made of too many boxes.")

"""Inspects audio that libsndfile decodes: WAV, FLAC, MP3 and Ogg."""

from typing import Any, BinaryIO

import soundfile

from .exceptions import Rejected, rejecting
from .sounds import MIN_BYTES_PER_SECOND, sound_details

TRIAL_FRAMES = 4096
BLOCK_FRAMES = 2**16
# For a stream that does not state its length, libsndfile returns a larger number.
MAX_STATED_FRAMES = 2**62
# Upper bound of the bytes per second of MP3: 320 kbit/s, which are 40,000, and 4,500 more for what is not sound.
MAX_BYTES_PER_SECOND = 44_500
# How long the tags after an MP3 may be, and the fewest samples that it may have: those of three short frames.
TAG_BYTES = 64 * 2**10
MIN_FRAMES = 3 * 576
BIT_DEPTHS = {"PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "FLOAT": 32, "DOUBLE": 64, "ULAW": 8, "ALAW": 8}
BIT_DEPTHS |= {"IMA_ADPCM": 4, "MS_ADPCM": 4}


def inspect(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return sample rate, channels and duration in seconds, and the bit depth where the format has one."""
    head = file.read(10)
    tag_bytes = sum((byte & 127) << 7 * place for place, byte in enumerate(reversed(head[6:]))) if head[:3] == b"ID3" else 0
    file.seek(0)
    with rejecting("The sound is damaged: it cannot be decoded."), soundfile.SoundFile(file) as sound:
        return _mp3(sound, size - tag_bytes) if format_name == "mp3" else _decoded(sound, size, format_name)


def _decoded(sound: soundfile.SoundFile, size: int, format_name: str) -> dict[str, Any]:
    """Decode the beginning of a sound, and the end of a FLAC: what the decoder refuses cannot be played."""
    frames = sound.frames if sound.frames < MAX_STATED_FRAMES else 0
    if not len(sound.read(TRIAL_FRAMES, dtype="float32")):
        raise Rejected("The sound is empty.")
    if format_name == "flac" and frames > TRIAL_FRAMES:
        sound.seek(frames - TRIAL_FRAMES)
        if len(sound.read(TRIAL_FRAMES, dtype="float32")) < TRIAL_FRAMES:
            raise Rejected("The sound was cut off.")
    if format_name == "ogg" and frames / sound.samplerate > 10 + size / MIN_BYTES_PER_SECOND:
        raise Rejected("The sound claims to be longer than its bytes can hold.")
    depth = {"bitDepth": BIT_DEPTHS[sound.subtype]} if sound.subtype in BIT_DEPTHS else {}
    return sound_details(sound.samplerate, sound.channels, frames / sound.samplerate) | depth


def _mp3(sound: soundfile.SoundFile, size: int) -> dict[str, Any]:
    """Decode a whole MP3, of `size` bytes without the tag at its start, because its header may state any length."""
    frames = 0
    while block := len(sound.read(BLOCK_FRAMES, dtype="int16")):
        frames += block
    seconds = frames / sound.samplerate
    if size > TAG_BYTES + MAX_BYTES_PER_SECOND * seconds or frames < MIN_FRAMES:
        raise Rejected("The sound is damaged: most of it is not made of audio frames.")
    return sound_details(sound.samplerate, sound.channels, seconds) | {"bitrate": round(size * 8 / seconds)}

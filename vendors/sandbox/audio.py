"""Inspects audio: checks the container's headers against the bytes of the file, then tries the decoder."""

import io
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import soundfile

from . import frames
from .verdicts import Rejected, Unsupported

CHUNKS = 1000
TRIAL_FRAMES = 4096
# How much of a WAV's samples the decoder gets to read. It must not see the chunks behind them: there may be millions.
TRIAL_BYTES = 2**20
# A day, the longest duration that is accepted.
SECONDS = 24 * 3600
PCM, FLOAT, ALAW, MULAW, EXTENSIBLE = 1, 3, 6, 7, 0xFFFE
# Lower bound of the bytes per second of AAC and Vorbis; the most samples in a FLAC frame, and the fewest bytes that encode them.
LEAST_BYTES = 50
FLAC_FRAME_SAMPLES, FLAC_FRAME_BYTES = 65_535, 8
# The MP4 boxes on the path to the description of the audio track.
MP4_PATH = {b"moov", b"trak", b"mdia", b"minf", b"stbl"}
MP4_BOX_BYTES = 2**20


def inspect(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return sample rate, channels and duration in seconds, and the bit depth where the format has one."""
    match name:
        case "mp3":
            found = frames.measure(file, size, name)
            _trial(file)
        case "aac":
            found = frames.measure(file, size, name)
        case "m4a":
            found = _mp4(file, size)
        case "wav":
            found = _wave(file, size)
        case "flac":
            found = _flac(file.read(42), size)
            _trial(file, to_the_end=True)
        case _:
            found = _ogg(file, size)
    plausible = 0 < found["sampleRate"] <= 1_000_000 and 0 < found["channels"] <= 255
    if not plausible or not 0 <= found["durationSeconds"] <= SECONDS:
        raise Rejected("The sound's sample rate, channels or duration are impossible.")
    return found


def _trial(file: BinaryIO, *, to_the_end: bool = False) -> dict[str, Any]:
    """Decode the beginning, and with `to_the_end` the end: a file that the decoder refuses cannot be played."""
    file.seek(0)
    try:
        with soundfile.SoundFile(file) as sound:
            if not len(sound.read(TRIAL_FRAMES, dtype="float32")):
                raise Rejected("The sound is empty.")
            if to_the_end and sound.frames > TRIAL_FRAMES:
                sound.seek(sound.frames - TRIAL_FRAMES)
                if len(sound.read(TRIAL_FRAMES, dtype="float32")) < TRIAL_FRAMES:
                    raise Rejected("The sound was cut off.")
            seconds = sound.frames / sound.samplerate if 0 < sound.frames < 2**62 else 0.0
            return {"sampleRate": sound.samplerate, "channels": sound.channels, "durationSeconds": round(seconds, 3)}
    except soundfile.SoundFileError as error:
        raise Rejected("The sound is damaged: it cannot be decoded.") from error


def _wave(file: BinaryIO, size: int) -> dict[str, Any]:
    form: tuple[int, ...] | None = None
    at = 12
    for _ in range(CHUNKS):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            break
        kind, length = struct.unpack("<4sI", head)
        if kind == b"fmt ":
            body = file.read(16)
            if len(body) < 16:
                break
            form = struct.unpack("<HHIIHH", body)
        elif kind == b"data" and form is not None:
            # A streamed file, and one above 4 GiB, states a length of its last chunk that is too large.
            found = _wave_facts(form, min(length, size - at - 8))
            file.seek(0)
            _trial(io.BytesIO(file.read(at + 8 + TRIAL_BYTES)))
            return found
        at += 8 + length + (length & 1)
        if at > TRIAL_BYTES * 16:
            raise Rejected("The sound has more than 16 MiB before its samples.")
    else:
        raise Rejected("The sound has more than 1000 chunks before its samples.")
    raise Rejected("The sound has no samples, or none of them is described.")


def _wave_facts(form: tuple[int, ...], data_bytes: int) -> dict[str, Any]:
    kind, channels, rate, bytes_per_second, _, depth = form
    if not channels or not rate or not bytes_per_second or data_bytes <= 0 or depth > 64:
        raise Rejected("The sound has no samples, or none of them is described.")
    if kind in {PCM, FLOAT, EXTENSIBLE, ALAW, MULAW}:
        bytes_per_second = rate * channels * max((depth + 7) // 8, 1)
    # Other codecs store at least one bit per sample.
    seconds = min(data_bytes / bytes_per_second, data_bytes * 8 / rate)
    return {"sampleRate": rate, "channels": channels, "bitDepth": depth, "durationSeconds": round(seconds, 3)}


def _flac(head: bytes, size: int) -> dict[str, Any]:
    if len(head) < 42 or head[4] & 127:
        raise Rejected("The sound is damaged: it does not begin with its description.")
    packed = int.from_bytes(head[18:26], "big")
    rate, channels, depth, samples = packed >> 44, (packed >> 41 & 7) + 1, (packed >> 36 & 31) + 1, packed & (2**36 - 1)
    if not rate:
        raise Rejected("The sound is damaged: it states no sample rate.")
    if samples > size / FLAC_FRAME_BYTES * FLAC_FRAME_SAMPLES:
        raise Rejected("The sound claims to be longer than its bytes can hold.")
    return {"sampleRate": rate, "channels": channels, "bitDepth": depth, "durationSeconds": round(samples / rate, 3)}


def _ogg(file: BinaryIO, size: int) -> dict[str, Any]:
    found = _trial(file)
    if found["durationSeconds"] > 10 + size / LEAST_BYTES:
        raise Rejected("The sound claims to be longer than its bytes can hold.")
    return found


def _mp4(file: BinaryIO, size: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, body in _boxes(file, 0, size):
        if kind == b"hdlr" and body[8:12] == b"vide":
            raise Unsupported("The file holds a video. Send its sound alone.")
        if kind == b"mdhd":
            wide = body[:1] == b"\1"
            scale, units = struct.unpack(">IQ", body[20:32]) if wide else struct.unpack(">II", body[12:20])
            found.setdefault("durationSeconds", round(units / scale, 3) if scale else -1.0)
        if kind == b"stsd" and body[12:16] == b"mp4a":
            found.setdefault("channels", int.from_bytes(body[32:34], "big"))
            found.setdefault("sampleRate", int.from_bytes(body[40:42], "big"))
    if len(found) != 3:
        raise Unsupported("The file is a container without AAC sound.")
    if found["durationSeconds"] > size / LEAST_BYTES:
        raise Rejected("The sound claims to be longer than its bytes can hold.")
    return found


def _boxes(file: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and body of each `hdlr`, `mdhd` and `stsd` box; boxes of `MP4_PATH` are descended into."""
    waiting = [(start, end)]
    for _ in range(CHUNKS):
        if not waiting:
            return
        at, end = waiting.pop()
        if at + 8 > end:
            continue
        file.seek(at)
        length, kind = struct.unpack(">I4s", file.read(8))
        header = 8
        if length == 1:
            length, header = int.from_bytes(file.read(8), "big"), 16
        length = length or end - at
        if length < header or at + length > end:
            raise Rejected("The sound is damaged: its boxes do not fit.")
        waiting.append((at + length, end))
        if kind in MP4_PATH:
            waiting.append((at + header, at + length))
        elif kind in {b"hdlr", b"mdhd", b"stsd"}:
            # Padded with zeros, so that reading fields of a short box does not fail.
            yield kind, file.read(min(length - header, MP4_BOX_BYTES)).ljust(64, b"\0")
    raise Rejected("The sound is made of too many boxes.")

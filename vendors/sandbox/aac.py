"""Reads AAC streams (ADTS) frame by frame: no available library does, and the duration is the sum of the frames."""

from typing import Any, BinaryIO, NamedTuple

from .exceptions import Rejected
from .sounds import sound_details

# Enough for 20 MiB at the lowest bit rates; the duration of longer files is extrapolated.
MAX_FRAMES = 400_000
HEADER_BYTES = 7
SEARCH_BYTES = 64 * 2**10
MAX_RESYNCS = 16
MIN_FRAMES = 3
SAMPLE_RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350)


class Frame(NamedTuple):
    """One frame's header."""

    length: int
    samples: int
    rate: int
    channels: int


def parse_frame(head: bytes) -> Frame | None:
    """Return the frame that an ADTS header describes; None where the bytes are no such header."""
    if len(head) < HEADER_BYTES or head[0] != 0xFF or head[1] & 0xF6 != 0xF0:
        return None
    rate_index = head[2] >> 2 & 15
    length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
    if rate_index >= len(SAMPLE_RATES) or length < HEADER_BYTES:
        return None
    channels = (head[2] & 1) << 2 | head[3] >> 6
    return Frame(length, 1024 * ((head[6] & 3) + 1), SAMPLE_RATES[rate_index], 8 if channels == 7 else channels or 2)


def inspect(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return sample rate, channels, duration in seconds and bit rate of a stream."""
    walk = _Walk(file, size)
    walk.run()
    if walk.frames < MIN_FRAMES or walk.covered < 0.9 * walk.passed:
        raise Rejected("The sound is damaged: most of it is not made of audio frames.")
    seconds = walk.seconds
    if walk.frames == MAX_FRAMES:
        seconds *= size / max(walk.covered, 1)
    return sound_details(walk.first.rate, walk.first.channels, seconds) | {"bitrate": round(walk.covered * 8 / walk.seconds)}


class _Walk:
    """A walk through the frames of a stream: the first frame, the bytes `covered` by frames, and the bytes that were `passed`."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self.frames = 0
        self.covered = 0
        self.passed = 0
        self.seconds = 0.0
        self.first = Frame(0, 0, 0, 0)

    def run(self) -> None:
        at = losses = 0
        while at < self._size and self.frames < MAX_FRAMES:
            self._file.seek(at)
            frame = parse_frame(self._file.read(HEADER_BYTES))
            if frame is None or at + frame.length > self._size:
                found = self._search(at + 1 if self.frames else at) if losses < MAX_RESYNCS else None
                if found is None:
                    break
                losses += 1
                at = found
                continue
            self.first = self.first if self.frames else frame
            self.frames += 1
            self.covered += frame.length
            self.seconds += frame.samples / frame.rate
            at += frame.length
        # A truncated last frame and a tag after the stream are accepted.
        self.passed = at if self._size - at < SEARCH_BYTES else self._size

    def _search(self, at: int) -> int | None:
        """Return the offset of the next two consecutive frames within SEARCH_BYTES, None when there are none."""
        self._file.seek(at)
        stretch = self._file.read(SEARCH_BYTES)
        local = stretch.find(0xFF)
        while local >= 0:
            frame = parse_frame(stretch[local : local + HEADER_BYTES])
            if frame is not None and parse_frame(stretch[local + frame.length : local + frame.length + HEADER_BYTES]) is not None:
                return at + local
            local = stretch.find(0xFF, local + 1)
        return None

"""Reads MP3 and AAC streams frame by frame: the duration is the sum of the frames, not what a header states."""

from typing import Any, BinaryIO, NamedTuple

from .verdicts import Rejected

CHUNK = 2**20
# Enough for 20 MiB at the lowest bit rates; the duration of longer files is extrapolated.
FRAMES = 400_000
SEARCH_BYTES = 64 * 2**10
RESYNCS = 16
ENOUGH_FRAMES = 3
MPEG1_L3 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
MPEG2_L3 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
MP3_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
AAC_RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350)


class Frame(NamedTuple):
    """One frame's header."""

    length: int
    samples: int
    rate: int
    channels: int


def mp3_frame(head: bytes) -> Frame | None:
    """Parse an MPEG layer III frame header; None when it is not one."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return None
    version, rate_index, bitrate_index = head[1] >> 3 & 3, head[2] >> 2 & 3, head[2] >> 4
    if version == 1 or rate_index == 3 or bitrate_index in {0, 15}:
        return None
    first = version == 3
    bitrate = (MPEG1_L3 if first else MPEG2_L3)[bitrate_index] * 1000
    rate = MP3_RATES[version][rate_index]
    length = (144 if first else 72) * bitrate // rate + (head[2] >> 1 & 1)
    return Frame(length, 1152 if first else 576, rate, 1 if head[3] >> 6 == 3 else 2)


def adts_frame(head: bytes) -> Frame | None:
    """Parse an ADTS frame header; None when it is not one."""
    if len(head) < 7 or head[0] != 0xFF or head[1] & 0xF6 != 0xF0:
        return None
    rate_index = head[2] >> 2 & 15
    length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
    if rate_index >= len(AAC_RATES) or length < 7:
        return None
    channels = (head[2] & 1) << 2 | head[3] >> 6
    return Frame(length, 1024 * ((head[6] & 3) + 1), AAC_RATES[rate_index], 8 if channels == 7 else channels or 2)


def measure(file: BinaryIO, size: int, name: str) -> dict[str, Any]:
    """Return sample rate, channels and duration of an `mp3` or `aac` stream."""
    walk = _Walk(file, size, mp3_frame if name == "mp3" else adts_frame)
    walk.run(_after_tag(file, size))
    if walk.frames < ENOUGH_FRAMES or walk.covered < 0.9 * walk.passed:
        raise Rejected("The sound is damaged: most of it is not made of audio frames.")
    first = walk.first
    seconds = walk.seconds
    if walk.frames == FRAMES:
        seconds *= (size - walk.begin) / max(walk.covered, 1)
    return {
        "sampleRate": first.rate,
        "channels": first.channels,
        "durationSeconds": round(seconds, 3),
        "bitrate": round(walk.covered * 8 / walk.seconds) if walk.seconds else 0,
    }


def _after_tag(file: BinaryIO, size: int) -> int:
    """Return the offset of the stream behind its ID3v2 tags, which are skipped without being parsed."""
    at = 0
    for _ in range(4):
        file.seek(at)
        head = file.read(10)
        if head[:3] != b"ID3" or len(head) < 10:
            return at
        at += 10 + (head[6] & 127) * 2**21 + (head[7] & 127) * 2**14 + (head[8] & 127) * 2**7 + (head[9] & 127)
        if at >= size:
            raise Rejected("The sound has a tag that is longer than the file.")
    return at


class _Walk:
    def __init__(self, file: BinaryIO, size: int, parse: Any) -> None:
        self._file = file
        self._size = size
        self._parse = parse
        self._chunk = b""
        self._chunk_at = 0
        self.frames = 0
        self.covered = 0
        self.passed = 0
        self.begin = 0
        self.seconds = 0.0
        self.first = Frame(0, 0, 0, 0)

    def _head(self, at: int) -> bytes:
        local = at - self._chunk_at
        if not 0 <= local <= len(self._chunk) - 8:
            self._file.seek(at)
            self._chunk, self._chunk_at = self._file.read(CHUNK), at
            local = 0
        return self._chunk[local : local + 8]

    def run(self, at: int) -> None:
        self.begin = at
        losses = 0
        while at < self._size and self.frames < FRAMES:
            frame: Frame | None = self._parse(self._head(at))
            if frame is None or at + frame.length > self._size:
                found = self._search(at + 1 if self.frames else at) if losses < RESYNCS else None
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
        self.passed = at - self.begin if self._size - at < SEARCH_BYTES else self._size - self.begin

    def _search(self, at: int) -> int | None:
        """Return the offset of the next two consecutive frames within SEARCH_BYTES, None when there are none."""
        self._file.seek(at)
        stretch = self._file.read(SEARCH_BYTES)
        local = stretch.find(0xFF)
        while local >= 0:
            frame: Frame | None = self._parse(stretch[local : local + 8])
            if frame is not None and self._parse(stretch[local + frame.length : local + frame.length + 8]) is not None:
                return at + local
            local = stretch.find(0xFF, local + 1)
        return None

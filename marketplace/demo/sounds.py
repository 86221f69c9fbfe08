"""Generates short sounds as WAV files."""

import array
import io
import math
import random
import sys
import wave
from collections.abc import Iterable

RATE = 44_100
LOUDEST = 30_000
# Semitones above A2 of a slow chord sequence.
CHORDS = ((0, 7, 12, 16), (-4, 3, 8, 12), (-9, 3, 7, 10), (-2, 5, 9, 14))


def pad(seconds: float, *, seed: str) -> bytes:
    """Return a soft chord that swells and fades."""
    rng = random.Random(seed)  # noqa: S311 - a melody, not a secret
    notes = [110 * 2 ** (step / 12) for step in rng.choice(CHORDS)]
    count = round(RATE * seconds)
    voices = [(2 * math.pi * note / RATE, rng.random()) for note in notes]
    return _wav(
        math.sin(math.pi * frame / count) * sum(math.sin(turn * frame + shift) for turn, shift in voices) / len(voices)
        for frame in range(count)
    )


def bells(seconds: float, *, seed: str) -> bytes:
    """Return a run of struck notes, each dying away."""
    rng = random.Random(seed)  # noqa: S311 - a melody, not a secret
    scale = [440 * 2 ** (step / 12) for step in (0, 2, 4, 7, 9, 12)]
    stroke = RATE // 4
    turns = [2 * math.pi * rng.choice(scale) / RATE for _ in range(round(seconds * 4))]
    return _wav(
        math.exp(-6 * frame / stroke) * math.sin(turn * frame + 1.2 * math.sin(turn * 3.5 * frame))
        for turn in turns
        for frame in range(stroke)
    )


def beat(seconds: float, *, seed: str) -> bytes:
    """Return a drum loop: a falling kick on the beat, noise between."""
    rng = random.Random(seed)  # noqa: S311 - a rhythm, not a secret
    step = RATE // 8
    samples: list[float] = []
    for index in range(round(seconds * 8)):
        kick = index % 4 == 0 or rng.random() < 0.15
        for frame in range(step):
            fade = math.exp(-frame / (step * 0.25))
            samples.append(fade * math.sin(55 * math.exp(-frame / 900) * frame / 160) if kick else fade * rng.uniform(-0.35, 0.35))
    return _wav(samples)


def _wav(samples: Iterable[float]) -> bytes:
    numbers = array.array("h", (round(max(-1.0, min(1.0, sample)) * LOUDEST) for sample in samples))
    if sys.byteorder == "big":
        numbers.byteswap()
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(numbers.tobytes())
    return buffer.getvalue()


SOUNDS = {"pad": pad, "bells": bells, "beat": beat}

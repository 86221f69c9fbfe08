"""The waveform of a sound that libsndfile decodes."""

from typing import BinaryIO

import soundfile

from .exceptions import rejecting
from .sounds import MAX_PEAKS

BLOCK_FRAMES = 2**16


def peaks_of(file: BinaryIO, frames: int) -> list[int]:
    """Return how loud each of up to `MAX_PEAKS` equal parts of a sound is, in percent of the loudest; nothing for silence."""
    part_frames = max(1, -(-frames // MAX_PEAKS))
    peaks = [0.0] * MAX_PEAKS
    at = 0
    file.seek(0)
    with rejecting("The sound is damaged: it cannot be decoded."), soundfile.SoundFile(file) as sound:
        # Keeps soundfile from seeking after each read: the MP3 decoder returns silence after a seek.
        sound.seekable = lambda: False
        while len(block := sound.read(BLOCK_FRAMES, dtype="float32")) and at < part_frames * MAX_PEAKS:
            while len(head := block[: part_frames - at % part_frames]) and at < part_frames * MAX_PEAKS:
                peaks[at // part_frames] = max(peaks[at // part_frames], float(abs(head).max()))
                at += len(head)
                block = block[len(head) :]
    loudest = max(peaks)
    return [round(100 * peak / loudest) for peak in peaks[: -(-at // part_frames)]] if 0 < loudest < float("inf") else []

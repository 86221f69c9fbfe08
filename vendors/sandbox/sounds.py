"""The technical details of all sounds, and their limits."""

from typing import Any

from .exceptions import Rejected

# A day, the longest duration that is accepted.
MAX_SECONDS = 24 * 3600
# Lower bound of the bytes per second of AAC and Vorbis.
MIN_BYTES_PER_SECOND = 50
# The most values of a waveform.
MAX_PEAKS = 160


def sound_details(rate: int, channels: int, seconds: float) -> dict[str, Any]:
    """Return sample rate, channels and duration in seconds as technical details."""
    if not 0 < rate <= 1_000_000 or not 0 < channels <= 255 or not 0 <= seconds <= MAX_SECONDS:
        raise Rejected("The sound's sample rate, channels or duration are impossible.")
    return {"sampleRate": rate, "channels": channels, "durationSeconds": round(seconds, 3)}

"""Audio previews: accepted by content, stored unchanged."""

from typing import Any, BinaryIO

from .exceptions import Unsupported
from .inspecting import module_details
from .peaks import peaks_of
from .sniffing import HEAD_BYTES, sniff

FORMATS = {"mp3", "aac", "m4a", "wav"}
# The formats that libsndfile decodes; the others have no waveform.
DECODED = {"mp3", "wav"}


def run(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `audio` task of the sandbox: return the technical details and the waveform of the audio."""
    format_name = sniff(file.read(HEAD_BYTES))
    if format_name not in FORMATS:
        raise Unsupported("Send an MP3, AAC or WAV sound.")
    details = {"format": format_name, **module_details(file, size, format_name)}
    if format_name in DECODED:
        details["peaks"] = peaks_of(file, round(details["durationSeconds"] * details["sampleRate"]))
    return {"details": details}, []

"""Detects the type of a deliverable and extracts its technical details."""

import importlib
import json
from typing import Any, BinaryIO

from .exceptions import Unsupported
from .sniffing import HEAD_BYTES, describe_unknown, sniff

# Imported on demand: fontTools, Pillow and soundfile, which needs NumPy, are slow to load.
MODULES = {
    "zip": "zips",
    "tar": "tars",
    "tar.gz": "tars",
    "tar.bz2": "tars",
    "tar.xz": "tars",
    "otf": "fonts",
    "ttf": "fonts",
    "ttc": "fonts",
    "woff": "fonts",
    "woff2": "fonts",
    "jpg": "images",
    "png": "images",
    "webp": "images",
    "psd": "images",
    "wav": "audio",
    "mp3": "audio",
    "aac": "aac",
    "m4a": "mp4",
    "flac": "audio",
    "ogg": "audio",
}
ARCHIVES = {"zips", "tars"}
# The largest size in bytes of the facts by which versions of a file are compared; larger ones are left out.
FACTS_BYTES = 4 * 2**20
ADVICE = "Send a zip or tar archive (plain, gzip, bzip2 or xz), a font, an image or a sound."


def run(file: BinaryIO, size: int) -> tuple[dict[str, Any], list[bytes]]:
    """Run the `inspect` task of the sandbox: return the technical details, and as JSON the facts by which versions of the file are compared."""
    head = file.read(HEAD_BYTES)
    format_name = sniff(head)
    if format_name not in MODULES:
        raise Unsupported(f"The content is {describe_unknown(head)}. {ADVICE}")
    found = details(file, size, format_name)
    facts = json.dumps(found.pop("facts"), ensure_ascii=False).encode("utf-8", "replace")
    return found, [facts if len(facts) <= FACTS_BYTES else b"{}"]


def details(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return the technical details of a file of this format: `format`, `entryCount`, `uncompressedSize`, `contentsByExtension`, then those of its kind."""
    found = module_details(file, size, format_name)
    if MODULES[format_name] in ARCHIVES:
        return {"format": format_name, **found}
    # Fonts are compared by their outlines and metrics, pictures and sounds by their details. The path is empty, since the file is in no archive.
    found["facts"] = {"fonts": {"": found["facts"]["faces"]}} if "facts" in found else {"media": {"": dict(found)}}
    return {"format": format_name, "entryCount": 1, "uncompressedSize": size, "contentsByExtension": {format_name: 1}, **found}


def module_details(file: BinaryIO, size: int, format_name: str) -> dict[str, Any]:
    """Return the details that the module of this format reports."""
    file.seek(0)
    found: dict[str, Any] = importlib.import_module(f"vendors.sandbox.{MODULES[format_name]}").inspect(file, size, format_name)
    return found

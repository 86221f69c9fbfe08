"""The technical details of a file as pages show them to its vendor: labelled facts, and warnings."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma

KINDS = {
    "zip": "zip archive",
    "tar": "tar archive",
    "tar.gz": "tar archive, gzip",
    "tar.bz2": "tar archive, bzip2",
    "tar.xz": "tar archive, xz",
    "otf": "OpenType font",
    "ttf": "TrueType font",
    "ttc": "font collection",
    "woff": "WOFF font",
    "woff2": "WOFF2 font",
    "jpg": "JPEG image",
    "png": "PNG image",
    "webp": "WebP image",
    "psd": "Photoshop document",
    "wav": "WAV sound",
    "mp3": "MP3 sound",
    "aac": "AAC sound",
    "m4a": "M4A sound",
    "flac": "FLAC sound",
    "ogg": "Ogg sound",
}
# The inspection's warnings by code, and why they matter to buyers and reviewers.
WARNINGS = {
    "nested_archive": "Archives inside the archive: they were not inspected, and a reviewer may ask what they contain.",
    "program": "Programs or scripts: buyers' systems may block them, and reviewers check them closely.",
    "unsafe_path": "Paths that lead outside the target folder: many programs refuse to unpack them.",
    "unprintable_name": "Names with invisible characters.",
    "duplicate_name": "Duplicate names: only one of them is kept when unpacking.",
    "symlink": "Links to other files: they are lost on some systems.",
    "hardlink": "Links to other files: they are lost on some systems.",
    "device": "Entries that are not files.",
    "encrypted": "Encrypted entries: they can't be inspected, and buyers need a password.",
}
ENDINGS = 8
NAMED = 6


def kind_of(technical: Mapping[str, Any]) -> str:
    """Return the name of a file's format."""
    name = str(technical.get("format", ""))
    return KINDS.get(name, name)


def facts_of(technical: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return label and value of each fact."""
    return [("Type", kind_of(technical)), *_contents(technical), *_font(technical), *_image(technical), *_sound(technical)]


def warnings_of(technical: Mapping[str, Any]) -> list[tuple[str, int, list[str]]]:
    """Return the warnings: the explanation, the number of occurrences, and examples of names."""
    found: list[Mapping[str, Any]] = technical.get("warnings", [])
    return [(WARNINGS.get(each["code"], each["code"]), each["count"], each["examples"]) for each in found]


def _contents(technical: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    count, endings = technical.get("entryCount", 1), technical.get("contentsByExtension", {})
    if count > 1 or technical.get("format") in {"zip", "tar", "tar.gz", "tar.bz2", "tar.xz"}:
        most = sorted(endings.items(), key=lambda item: (-item[1], item[0]))
        named = [f"{intcomma(number)} {ending or 'without an ending'}" for ending, number in most[:ENDINGS]]
        rest = ["others"] if len(most) > ENDINGS else []
        yield "Entries", f"{intcomma(count)} ({', '.join(named + rest)})" if named else intcomma(count)
    if skill := technical.get("skill"):
        yield "Skill", skill.get("name") or skill.get("path", "")


def _font(technical: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    families, axes = technical.get("familyNames", []), technical.get("variableAxes", [])
    if families:
        more = [f"{len(families) - NAMED} more"] if len(families) > NAMED else []
        yield "Families", ", ".join([*families[:NAMED], *more])
    if technical.get("glyphCount"):
        several = len([each for each in technical.get("members", []) if "glyphCount" in each]) > 1
        yield "Glyphs", intcomma(technical["glyphCount"]) + (" in the fullest font" if several else "")
    if axes:
        yield "Variable axes", ", ".join(axes)
    if scripts := technical.get("scripts"):
        yield "Scripts", ", ".join(scripts[:NAMED]) + (f" and {len(scripts) - NAMED} more" if len(scripts) > NAMED else "")


def _image(technical: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if technical.get("width") and technical.get("height"):
        depth = f", {technical['bitDepth']} bit" if technical.get("bitDepth") else ""
        yield "Size in pixels", f"{technical['width']} by {technical['height']}{depth}"


def _sound(technical: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if technical.get("durationSeconds"):
        yield "Length", _duration(technical["durationSeconds"])
    if technical.get("sampleRate"):
        yield "Sample rate", f"{technical['sampleRate'] / 1000:g} kHz, {_channels(technical.get('channels', 1))}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} minutes" if minutes else f"{seconds:.1f} seconds"


def _channels(count: int) -> str:
    return {1: "mono", 2: "stereo"}.get(count, f"{count} channels")

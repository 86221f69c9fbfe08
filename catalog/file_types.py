"""The type of a listing's file, as its vendor names it or the inspection finds it. The type of an archive is that of its contents."""

from collections.abc import Mapping
from typing import Any

from .labels import normalised
from .models import Deliverable, Listing

# Names of archives, which do not tell what is inside.
WRAPPERS = frozenset({"", "zip", "tar", "tar.gz", "tgz", "tar.bz2", "tar.xz", "7z", "rar", "archive", "zip archive"})
# Labels of types by extension. The type of an archive is the first of these that it contains.
LABELS = {
    "ai-skill": "AI skill",
    "otf": "OpenType font",
    "ttf": "TrueType font",
    "ttc": "TrueType collection",
    "woff2": "Web font",
    "woff": "Web font (WOFF)",
    "lottie": "Lottie",
    "mogrt": "Motion template",
    "aep": "After Effects",
    "drfx": "DaVinci template",
    "fig": "Figma",
    "sketch": "Sketch",
    "psd": "Photoshop",
    "ai": "Illustrator",
    "indd": "InDesign",
    "idml": "InDesign (IDML)",
    "blend": "Blender",
    "cube": "Cube LUT",
    "3dl": "3DL LUT",
    "xmp": "Lightroom preset",
    "lrtemplate": "Lightroom preset (classic)",
    "atn": "Photoshop action",
    "abr": "Photoshop brush",
    "wav": "WAV",
    "aif": "AIFF",
    "aiff": "AIFF",
    "flac": "FLAC",
    "mp3": "MP3",
    "ogg": "Ogg Vorbis",
    "m4a": "M4A",
    "aac": "AAC",
    "mp4": "MP4 video",
    "mov": "QuickTime video",
    "pptx": "PowerPoint",
    "key": "Keynote",
    "docx": "Word",
    "xlsx": "Excel",
    "html": "HTML",
    "svg": "SVG",
    "png": "PNG",
    "jpg": "JPEG",
    "webp": "WebP",
    "pdf": "PDF",
}
SKILL = "ai-skill"
MOTION_CATEGORY = "motion"
EXTENSION_CHARS = 5


def file_type_of(listing: Listing, file: Deliverable | None) -> str:
    """Return the type by which a listing with this file is filtered: the one that the vendor named, else that of the file's contents, else an empty text."""
    named = normalised(listing.file_type)
    if named not in WRAPPERS:
        return named
    return "" if file is None else _type_of_contents(file.technical, listing.category.slug)


def public_file_type(named: str, indexed: str) -> str:
    """Return the type to show to buyers: the one that the vendor named, or the indexed type if that is an archive or empty."""
    return indexed if normalised(named) in WRAPPERS else named


def file_type_label(file_type: str) -> str:
    """Return the label of a type."""
    is_extension = file_type.isalnum() and len(file_type) <= EXTENSION_CHARS
    return LABELS.get(normalised(file_type)) or (file_type.upper() if is_extension else file_type)


def _type_of_contents(technical: Mapping[str, Any], category: str) -> str:
    if "skill" in technical:
        return SKILL
    counts: Mapping[str, int] = technical.get("contentsByExtension", {})
    # Lottie animations are JSON, which a listing of another category uses for settings.
    if category == MOTION_CATEGORY and "json" in counts and counts.keys().isdisjoint(LABELS):
        return "lottie"
    return next((name for name in LABELS if name in counts), "")

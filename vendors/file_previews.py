"""Previews of an approved file for the listing's page: subsets of its fonts for the type tester, and its Lottie animations as moving pictures."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from catalog.file_types import MOTION_CATEGORY
from catalog.font_languages import languages_of
from catalog.font_samples import REPERTOIRE
from catalog.font_tester import FEATURES
from catalog.models import Deliverable
from catalog.models.files import FilePreviewKind
from marketplace.storage.base import ObjectStorage

from .previews import WEBP, ProcessedPreview, Rendition
from .sandbox.runner import Limits, reader_of, run_in_sandbox
from .sandbox.sniffing import sniff

LIMITS = Limits(cpu_seconds=60, wall_seconds=240)
# In order of preference, for styles that come in several formats.
FONT_FORMATS = ("otf", "ttf", "ttc", "woff2", "woff")
ANIMATION_EXTENSIONS = (".json", ".lottie")
MAX_STYLES, MAX_ANIMATION_PATHS = 24, 40
MAX_AXES = 16
NAME_CHARS = 120
POSTER = "poster"

PreviewOfKind = tuple[FilePreviewKind, ProcessedPreview]


def previews_of_file(deliverable: Deliverable, storage: ObjectStorage) -> list[PreviewOfKind]:
    """Return the previews of a stored file, made by the confined process: of its fonts, else of its animations if the listing's category is motion.

    Raises:
        FileRejected: the file takes too long.
        UnsupportedType: the file is of no supported type, although it was inspected.
        DependencyUnavailable: too many files are being inspected, the child cannot be started or was killed, or the file store cannot be read.
    """
    if fonts := _fonts_in(deliverable):
        options = {"members": fonts[:MAX_STYLES], "characters": REPERTOIRE, "features": [tag for tag, _, _ in FEATURES]}
        return _run("font-styles", deliverable, storage, partial(_styles, _count_styles(deliverable, fonts)), options)
    if deliverable.listing.category.slug == MOTION_CATEGORY and (paths := _animations_in(deliverable)):
        return _run("animations", deliverable, storage, _animations, {"paths": paths})
    return []


def _run(
    task: str,
    deliverable: Deliverable,
    storage: ObjectStorage,
    interpret: Callable[[dict[str, Any], list[bytes]], list[PreviewOfKind]],
    options: Mapping[str, Any],
) -> list[PreviewOfKind]:
    read_at = reader_of(storage, deliverable.object_key)
    return run_in_sandbox(task, read_at=read_at, size=deliverable.file_size, limits=LIMITS, interpret=interpret, options=options)


def _fonts_in(deliverable: Deliverable) -> list[tuple[str, int]]:
    """Return the path and the face of each style, one of each style that comes in several formats."""
    if deliverable.format in FONT_FORMATS:
        return [("", face) for face in range(deliverable.technical.get("faceCount", 1))]
    members = [member for member in deliverable.technical.get("members", ()) if member.get("format") in FONT_FORMATS]
    chosen: dict[str, tuple[str, int]] = {}
    for member in sorted(members, key=lambda member: FONT_FORMATS.index(member["format"])):
        for face in range(member.get("faceCount", 1)):
            name = member.get("postScriptName") or member["path"]
            chosen.setdefault(f"{name} {face}", (member["path"], face))
    return list(chosen.values())


def _count_styles(deliverable: Deliverable, fonts: Sequence[tuple[str, int]]) -> int:
    """Return how many styles a file holds; in an archive with many fonts only some are inspected, so its font files are counted."""
    counts: dict[str, int] = deliverable.technical.get("contentsByExtension", {})
    return max(len(fonts), *(counts.get(extension, 0) for extension in FONT_FORMATS))


def _animations_in(deliverable: Deliverable) -> list[str]:
    return [path for path, *_ in deliverable.entries if path.lower().endswith(ANIMATION_EXTENSIONS)][:MAX_ANIMATION_PATHS]


# The media types are fixed here and the signatures checked, because the output of a compromised child would be served to everyone.


def _styles(total: int, result: dict[str, Any], blobs: list[bytes]) -> list[PreviewOfKind]:
    made: list[PreviewOfKind] = []
    total_if_more = {"stylesOfFile": total} if total > len(blobs) else {}
    for style, content in zip(result["styles"][:MAX_STYLES], blobs, strict=True):
        if sniff(content) != "woff2":
            raise ValueError("no WOFF2")
        made.append((FilePreviewKind.FONT_STYLE, ProcessedPreview(content, "font/woff2", _style(style) | total_if_more, {})))
    return made


def _style(style: dict[str, Any]) -> dict[str, Any]:
    """Return the details of a style that the type tester shows."""
    coverage = Coverage(style["ranges"])
    tags = {str(tag) for tag in style["features"]}
    return {
        "familyNames": [str(name)[:NAME_CHARS] for name in style["familyNames"][:1]],
        "style": str(style["style"])[:NAME_CHARS],
        "weight": min(max(int(style["weight"]), 1), 1000),
        "italic": bool(style["italic"]),
        "axes": [
            {"tag": str(axis["tag"])[:4]} | {name: float(axis[name]) for name in ("min", "default", "max")}
            for axis in style["axes"][:MAX_AXES]
        ],
        "features": [tag for tag, _, _ in FEATURES if tag in tags],
        "unicodeRanges": [str(name)[:NAME_CHARS] for name in style["unicodeRanges"]],
        "glyphCount": int(style["glyphCount"]),
        "characterCount": len(coverage),
        "characters": "".join(character for character in REPERTOIRE if character in coverage and not character.isspace()),
        "languages": languages_of(coverage),
    }


class Coverage:
    """The characters of a font, from the first and the last code point of each run."""

    def __init__(self, ranges: Sequence[Sequence[int]]) -> None:
        self._ranges = sorted((int(first), int(last)) for first, last in ranges)
        if any(not 0 <= first <= last <= 0x10FFFF for first, last in self._ranges):
            raise ValueError("no characters")

    def __contains__(self, character: object) -> bool:
        code = ord(str(character))
        place = bisect_right(self._ranges, (code, 0x10FFFF))
        return place > 0 and self._ranges[place - 1][1] >= code

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self._ranges)


def _animations(result: dict[str, Any], blobs: list[bytes]) -> list[PreviewOfKind]:
    made: list[PreviewOfKind] = []
    for animation, moving, still in zip(result["animations"], blobs[::2], blobs[1::2], strict=True):
        if not sniff(moving) == sniff(still) == "webp":
            raise ValueError("no WebP")
        width, height = int(animation["width"]), int(animation["height"])
        name = str(animation["path"]).rpartition("/")[2].rpartition(".")[0][:NAME_CHARS]
        details = {"name": name, "width": width, "height": height, "durationSeconds": float(animation["durationSeconds"])}
        made.append((FilePreviewKind.ANIMATION, ProcessedPreview(moving, WEBP, details, {POSTER: Rendition(still, WEBP, width, height)})))
    return made

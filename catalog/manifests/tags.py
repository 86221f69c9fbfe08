"""Tags of an asset: the vendor's and those derived from its file.

They follow the rules of a listing's tags, so that a vendor can adopt them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .. import bounds
from ..models import Listing
from .quoting import plain
from .sources import sources_of

# How many words of a skill, font families, scripts, platforms and formats become tags.
MAX_KEYWORDS = 6
MAX_FAMILIES = 2
MAX_SCRIPTS = 6
MAX_PLATFORMS = 3
MAX_FORMATS = 3
_CATEGORY_TAGS = {
    "fonts": ("font",),
    "motion": ("motion graphics",),
    "templates": ("template",),
    "presets": ("preset",),
    "ai-skills": ("ai skill", "agent"),
}
_AXIS_TAGS = {
    "wght": "weight",
    "wdth": "width",
    "opsz": "optical size",
    "slnt": "slanted",
    "ital": "italic",
    "GRAD": "grade",
}
# Words in family and style names, and the tags they stand for.
_STYLE_TAGS = {
    "sans": "sans serif",
    "grotesk": "grotesque",
    "grotesque": "grotesque",
    "gothic": "sans serif",
    "serif": "serif",
    "roman": "serif",
    "slab": "slab serif",
    "mono": "monospaced",
    "code": "monospaced",
    "script": "script",
    "hand": "handwriting",
    "brush": "brush",
    "display": "display",
    "text": "text",
    "stencil": "stencil",
    "rounded": "rounded",
    "condensed": "condensed",
    "narrow": "condensed",
    "extended": "extended",
    "thin": "thin",
    "light": "light",
    "medium": "medium",
    "semibold": "semibold",
    "bold": "bold",
    "black": "black",
    "heavy": "black",
    "italic": "italic",
    "oblique": "italic",
    "icons": "icons",
    "symbols": "symbols",
    "emoji": "emoji",
}
_SCRIPT_TAGS = {"Han": "chinese", "Hiragana": "japanese", "Katakana": "japanese", "Hangul": "korean"}
# By file extension of the contents.
_FORMAT_TAGS = {
    "cube": ("lut", "color grading"),
    "3dl": ("lut", "color grading"),
    "xmp": ("lightroom", "photo preset"),
    "lrtemplate": ("lightroom", "photo preset"),
    "dng": ("lightroom", "photo preset"),
    "mogrt": ("premiere pro", "motion template"),
    "prproj": ("premiere pro",),
    "aep": ("after effects",),
    "aet": ("after effects",),
    "ffx": ("after effects", "animation preset"),
    "drfx": ("davinci resolve",),
    "lottie": ("lottie", "animation"),
    "psd": ("photoshop",),
    "abr": ("photoshop", "brushes"),
    "atn": ("photoshop", "actions"),
    "ai": ("illustrator", "vector"),
    "svg": ("vector",),
    "eps": ("vector",),
    "idml": ("indesign",),
    "indd": ("indesign",),
    "fig": ("figma",),
    "sketch": ("sketch",),
    "pptx": ("powerpoint", "slides"),
    "key": ("keynote", "slides"),
    "docx": ("word", "document"),
    "xlsx": ("excel", "spreadsheet"),
    "blend": ("blender", "3d"),
    "glb": ("3d model",),
    "obj": ("3d model",),
    "mp4": ("video",),
    "mov": ("video",),
    "wav": ("audio",),
    "flac": ("audio",),
    "mp3": ("audio",),
    "ogg": ("audio",),
    "mid": ("midi",),
    "vstpreset": ("synth preset",),
    "fxp": ("synth preset",),
    "adg": ("ableton",),
    "als": ("ableton",),
    "otf": ("opentype",),
    "ttf": ("truetype",),
    "woff2": ("web font",),
    "woff": ("web font",),
}
# Extensions of documents that accompany an asset.
_DOCUMENTS = {"txt", "md", "pdf", "rtf", "html", "htm", "url"}
# Common words of skill texts, which make no tags.
_COMMON = set(
    re.findall(
        r"\w+",
        "about after again agent agents also another answer answers asked asks before being between both cannot claude could "
        "does done each ensure every example examples file files first follow following from give given gives have helps here "
        "into instructions introduction its just keep limits line make makes many more most must need needed needs never note "
        "notes only other others output over overview read reads same says setup should skill skills some step steps such take "
        "takes task tasks than that their them then there these they thing things this those through turn under until usage used "
        "user users uses using very want wants what when where whether which while will with without words work works would "
        "write your ",
    )
)
_WORD = re.compile(r"[^\W\d_][\w-]{3,}")
_VERSION = re.compile(r"\s+v?\d.*$")


def tags_of(sources: Mapping[str, Any]) -> list[str]:
    """Return at most `bounds.MAX_TAGS` tags, the vendor's first, without duplicates that differ only in case."""
    found: dict[str, str] = {}
    for tag in _all_tags(sources):
        short = plain(tag, bounds.TAG_CHARS)
        if short and not short.endswith("…"):
            found.setdefault(short.casefold(), short)
    return list(found.values())[: bounds.MAX_TAGS]


def semantic_tags(listing: Listing) -> list[str]:
    """Return the tags derived from a listing's category, file and host tools, without its vendor's own."""
    return tags_of(sources_of(listing, ()) | {"tags": []})


def _all_tags(sources: Mapping[str, Any]) -> Iterator[str]:
    yield from sources["tags"]
    yield from _CATEGORY_TAGS.get(sources["category"], (sources["category"].replace("-", " "),))
    yield from _font_tags(sources)
    yield from _skill_tags(sources["skill"])
    for name in sources["formats"]:
        yield from _FORMAT_TAGS.get(name, ())
    yield from (_VERSION.sub("", name).lower() for name in sources["platforms"][:MAX_PLATFORMS])
    yield from [name for name in sources["formats"] if name not in _DOCUMENTS][:MAX_FORMATS]


def _font_tags(sources: Mapping[str, Any]) -> Iterator[str]:
    if not sources["glyphCount"]:
        return
    if sources["axes"]:
        yield "variable font"
    yield from _style_tags([*sources["families"], *sources["styles"]])
    yield from (_AXIS_TAGS[axis["tag"]] for axis in sources["axes"] if axis["tag"] in _AXIS_TAGS)
    yield from sources["families"][:MAX_FAMILIES]
    yield from (_SCRIPT_TAGS.get(script, script.lower()) for script in sources["scripts"][:MAX_SCRIPTS])


def _style_tags(names: Iterable[str]) -> list[str]:
    """Return the tags in names of families and styles; `Sans Serif` is not tagged serif, `SemiBold` not bold."""
    found = dict.fromkeys(_STYLE_TAGS[word] for name in names for word in _words(name) if word in _STYLE_TAGS)
    if "sans serif" in found:
        found.pop("serif", None)
    return list(found)


def _words(name: str) -> Iterator[str]:
    for word in re.findall(r"[A-Za-z]+", name.replace("Semi Bold", "SemiBold")):
        parts = [word] if word.lower() in _STYLE_TAGS else re.findall(r"[A-Z]?[a-z]+|[A-Z]+", word)
        yield from (part.lower() for part in parts)


def _skill_tags(skill: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the skill's name and the most frequent words of its description and headings."""
    if skill is None:
        return
    yield "agent skill"
    yield skill["name"].replace("-", " ").replace("_", " ").lower()
    words = [word.lower() for text in (skill["description"], *skill["headings"]) for word in _WORD.findall(text)]
    counts = Counter(word for word in words if word not in _COMMON)
    # `most_common` keeps the order of the text among equal counts.
    yield from [word for word, _ in counts.most_common(MAX_KEYWORDS)]

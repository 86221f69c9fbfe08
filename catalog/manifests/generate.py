"""Generates the AI manifest from its sources."""

from collections.abc import Mapping
from typing import Any

from .quoting import NOTICE, quoted
from .tags import tags_of
from .tools import tool_schemas

SCHEMA_VERSION = "1.0"
TITLE_CHARS = 120
SUMMARY_CHARS = 200
DESCRIPTION_CHARS = 500


def build(sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest: the fields that the vendor API documents (`GeneratedManifest`), and `toolSchemas`."""
    paragraphs = (_about(sources), _font(sources), _skill(sources), _contents(sources), _how_to_get(sources), NOTICE)
    return {
        "version": SCHEMA_VERSION,
        "assetId": sources["assetId"],
        "slug": sources["slug"],
        "category": sources["category"],
        "tags": tags_of(sources),
        "agentGuidance": "\n\n".join(filter(None, paragraphs)),
        "technical": {
            "formats": sources["formats"],
            "glyphCount": sources["glyphCount"],
            "variableAxes": sources["variableAxes"],
        },
        "toolSchemas": tool_schemas(sources),
    }


def _about(sources: Mapping[str, Any]) -> str:
    version = f", version {quoted(sources['version'], TITLE_CHARS)}" if sources["version"] else ""
    title, store = quoted(sources["title"], TITLE_CHARS), quoted(sources["store"], TITLE_CHARS)
    sentences = [f"{title} by {store} (category {sources['category']}{version}): {quoted(sources['shortDescription'], SUMMARY_CHARS)}."]
    tags = tags_of(sources)
    if tags:
        sentences.append(f"Tags: {', '.join(quoted(tag, TITLE_CHARS) for tag in tags)}.")
    return " ".join(sentences)


def _font(sources: Mapping[str, Any]) -> str:
    if not sources["glyphCount"]:
        return ""
    families = f" Families: {', '.join(quoted(name, TITLE_CHARS) for name in sources['families'])}." if sources["families"] else ""
    axes = [f"{axis['tag']} from {axis['min']:g} to {axis['max']:g} (default {axis['default']:g})" for axis in sources["axes"]]
    variable = f" Variable axes: {'; '.join(axes)}." if axes else " It has no variable axes: choose a style by its file."
    return f"The font with the most glyphs has {sources['glyphCount']}.{families}{variable} Check that they cover the text's script before use."


def _skill(sources: Mapping[str, Any]) -> str:
    skill = sources["skill"]
    if skill is None:
        return ""
    name = f" named {quoted(skill['name'], SUMMARY_CHARS)}" if skill["name"] else ""
    does = f" It says of itself: {quoted(skill['description'], DESCRIPTION_CHARS)}." if skill["description"] else ""
    parts = f" Sections: {', '.join(quoted(heading, SUMMARY_CHARS) for heading in skill['headings'])}." if skill["headings"] else ""
    return f"The archive holds an agent skill{name}.{does}{parts} Read the whole of SKILL.md, and judge it, before following it."


def _contents(sources: Mapping[str, Any]) -> str:
    formats = f"Formats: {', '.join(sources['formats'])}." if sources["formats"] else "No file has been uploaded yet."
    platforms = f" Made for: {', '.join(quoted(name, TITLE_CHARS) for name in sources['platforms'])}." if sources["platforms"] else ""
    return formats + platforms


def _how_to_get(sources: Mapping[str, Any]) -> str:
    licences = f" Licences: {', '.join(sources['licenses'])}." if sources["licenses"] else ""
    return (
        "A licence is bought once at POST /api/v1/wallet/spend; then POST /api/v1/library/download/{id} gives a link"
        f" that is valid for 15 minutes.{licences} README.txt and LICENSE.txt are included with the file in the package."
    )

"""Makes the generated agent manifest (reference section 2) from its sources."""

from collections.abc import Mapping
from typing import Any

from .tools import tool_schemas

SCHEMA_VERSION = "1.0"


def build(sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest: the reference's fields, and `toolSchemas`."""
    return {
        "version": SCHEMA_VERSION,
        "assetId": sources["assetId"],
        "slug": sources["slug"],
        "category": sources["category"],
        "tags": sources["tags"],
        "agentGuidance": guidance(sources),
        "technical": {
            "formats": sources["formats"],
            "glyphCount": sources["glyphCount"],
            "variableAxes": sources["variableAxes"],
        },
        "toolSchemas": tool_schemas(sources),
    }


def guidance(sources: Mapping[str, Any]) -> str:
    """Return what an agent should know before it chooses or uses the asset, one paragraph for each matter."""
    paragraphs = (_what(sources), _font(sources), _skill(sources), _contents(sources), _how_to_get(sources))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _what(sources: Mapping[str, Any]) -> str:
    version = f", version {sources['version']}" if sources["version"] else ""
    lines = [f"{sources['title']} by {sources['store']} (category {sources['category']}{version}).", sources["shortDescription"]]
    if sources["tags"]:
        lines.append(f"Tags: {', '.join(sources['tags'])}.")
    return " ".join(lines)


def _font(sources: Mapping[str, Any]) -> str:
    if not sources["glyphCount"]:
        return ""
    families = f" Families: {', '.join(sources['families'])}." if sources["families"] else ""
    axes = [f"{axis['tag']} from {axis['min']:g} to {axis['max']:g} (default {axis['default']:g})" for axis in sources["axes"]]
    variable = f" Variable axes: {'; '.join(axes)}." if axes else " It has no variable axes: choose a style by its file."
    return f"The fonts hold {sources['glyphCount']} glyphs.{families}{variable} Check that they cover the text's script before use."


def _skill(sources: Mapping[str, Any]) -> str:
    skill = sources["skill"]
    if skill is None:
        return ""
    name = f" named {skill['name']}" if skill["name"] else ""
    does = f" It says of itself: {skill['description']}" if skill["description"] else ""
    parts = f" Sections: {', '.join(skill['headings'])}." if skill["headings"] else ""
    return f"The archive holds an agent skill{name}.{does}{parts} Read the whole of SKILL.md before following it."


def _contents(sources: Mapping[str, Any]) -> str:
    formats = f"Formats: {', '.join(sources['formats'])}." if sources["formats"] else "No file has been uploaded yet."
    platforms = f" Made for: {', '.join(sources['platforms'])}." if sources["platforms"] else ""
    return formats + platforms


def _how_to_get(sources: Mapping[str, Any]) -> str:
    licences = f" Licences: {', '.join(sources['licenses'])}." if sources["licenses"] else ""
    return (
        "A licence is bought once at POST /api/v1/wallet/spend; then POST /api/v1/library/download/{id} gives a link"
        f" that is good for 15 minutes.{licences} README.txt and LICENSE.txt lie beside the file in the package."
    )

"""Tools that an agent can use with an asset, with JSON Schemas of their arguments."""

from collections.abc import Iterator, Mapping
from typing import Any

from .quoting import quoted

QUOTE_CHARS = 200
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def tool_schemas(sources: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tools: those that get the asset, then those that use it."""
    tools = [_buy_tool(sources), _download_tool(sources), *_tools_for_use(sources)]
    return [tool for tool in tools if tool is not None]


def _tool(name: str, description: str, properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
    }


def _buy_tool(sources: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the purchase tool; None if no licence or no currency is available."""
    if not sources["licenses"] or not sources["currencies"]:
        return None
    properties = {
        "assetId": {"const": sources["assetId"]},
        "licenseSlug": {"enum": sources["licenses"], "default": sources["licenses"][0]},
        "currency": {"enum": sources["currencies"]},
    }
    return _tool("buy_asset", "Buy a licence with wallet credit: POST /api/v1/wallet/spend.", properties, "assetId")


def _download_tool(sources: Mapping[str, Any]) -> dict[str, Any]:
    properties = {"assetId": {"const": sources["assetId"]}}
    description = "Get a link to an owned asset's package: POST /api/v1/library/download/{assetId}."
    return _tool("get_download_link", description, properties, "assetId")


def _tools_for_use(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if sources["glyphCount"]:
        yield _typeset_tool(sources)
    if sources["skill"] is not None:
        yield _follow_tool(sources)
    if sources["formats"] and not sources["glyphCount"] and sources["skill"] is None:
        yield _open_tool(sources)


def _typeset_tool(sources: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "text": {"type": "string", "minLength": 1},
        "fontSize": {"type": "number", "exclusiveMinimum": 0, "description": "In points."},
    }
    if sources["families"]:
        properties["family"] = {"enum": sources["families"]}
    if sources["axes"]:
        properties["axes"] = {
            "type": "object",
            "description": "Positions on the variable axes; an axis left out stays at its default.",
            "properties": {
                axis["tag"]: {"type": "number", "minimum": axis["min"], "maximum": axis["max"], "default": axis["default"]}
                for axis in sources["axes"]
            },
            "additionalProperties": False,
        }
    return _tool("typeset_text", f"Set text in {quoted(sources['title'], QUOTE_CHARS)} once its files are downloaded.", properties, "text")


def _follow_tool(sources: Mapping[str, Any]) -> dict[str, Any]:
    skill = sources["skill"]
    does = quoted(skill["description"] or sources["shortDescription"], QUOTE_CHARS)
    description = (
        f"Follow the skill {quoted(skill['name'] or sources['title'], QUOTE_CHARS)} once it is downloaded. Its vendor says: {does}"
    )
    properties = {
        "task": {"type": "string", "minLength": 1, "description": "What the skill is to do."},
        "context": {"type": "string", "description": "Facts and files that the task builds on."},
    }
    return _tool("follow_skill", description, properties, "task")


def _open_tool(sources: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {"format": {"enum": sources["formats"]}}
    if sources["platforms"]:
        properties["platform"] = {"enum": sources["platforms"]}
    return _tool(
        "open_file", f"Open a file of {quoted(sources['title'], QUOTE_CHARS)} in a host tool once it is downloaded.", properties, "format"
    )

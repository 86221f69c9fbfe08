"""Descriptions of field and parameter names that all apps share, for the OpenAPI document.

A field's own help text has precedence. Names that only one app has are described in its `api/descriptions.py`.
"""

from collections.abc import Callable, Mapping
from typing import Any

DESCRIPTIONS: Mapping[str, str] = {
    "code": "Stable code, for programs.",
    "count": "Number of entries.",
    "createdAt": "Time of creation.",
    "currency": "ISO 4217 code of the currency.",
    "data": "What the event is about.",
    "description": "Full description, Markdown.",
    "detail": "The result in a sentence, with what to do if it failed.",
    "email": "Email address.",
    "expiresAt": "Time from which it is no longer valid.",
    "fileSize": "Size in bytes.",
    "hint": "How to fix it.",
    "id": "Opaque id.",
    "items": "The entries of this page.",
    "kind": "What kind of entry it is.",
    "message": "What is wrong.",
    "name": "Name.",
    "page": "Number of the page, from 1.",
    "size": "Size in bytes.",
    "slug": "Name in URLs; that of a listing cannot be changed after its first submission.",
    "sortOrder": "Position among its siblings; for gallery images the slot.",
    "status": "Current status.",
    "total": "Number of all entries.",
    "updatedAt": "Time of the last change.",
    "url": "Address.",
    "value": "The value.",
    "version": "Version, such as 1.2.",
}
# Help texts that state bounds only: the description is put before them.
BOUNDS_ONLY = frozenset({"At most two decimals.", "Not download, search or suggest, and not in the form of an id."})


def describe_with(descriptions: Mapping[str, str]) -> Callable[..., dict[str, Any]]:
    """Return a drf-spectacular post-processing hook that adds missing descriptions, by name of the field or parameter, or by `Schema.field`."""

    def describe(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
        for title, schema in result["components"]["schemas"].items():
            for name, shape in schema.get("properties", {}).items():
                text = descriptions.get(f"{title}.{name}", descriptions.get(name, ""))
                schema["properties"][name] = _described(shape, text)
        for path in result["paths"].values():
            for operation in path.values():
                for parameter in operation.get("parameters", ()):
                    if parameter["name"] in descriptions:
                        parameter.setdefault("description", descriptions[parameter["name"]])
        return result

    return describe


def _described(shape: dict[str, Any], text: str) -> dict[str, Any]:
    own = shape.get("description", "")
    if (own and own not in BOUNDS_ONLY) or not text:
        return shape
    description = f"{text} {own}".strip()
    # Many tools ignore a description next to a reference.
    return {"allOf": [shape], "description": description} if "$ref" in shape else shape | {"description": description}


describe = describe_with(DESCRIPTIONS)

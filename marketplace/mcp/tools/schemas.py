"""JSON Schemas of serializers, made by the OpenAPI generator, and a check of argument types against them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.plumbing import ComponentRegistry
from pydantic import BaseModel
from rest_framework import serializers

from marketplace.api.openapi import OperationSchema
from marketplace.api.serializers import unknown_names
from marketplace.api.views import ApiViewSet

_REF = "#/components/schemas/"
# The generator's list of choices, which repeats what `enum` says.
_CHOICES = re.compile(r"(\n\n)?\* `.*", re.DOTALL)
_CONTROL = r"\u0000"
_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    # The serializer checks what is in an object.
    "object": (dict,),
}


def schema_of(serializer: serializers.Serializer[Any], *, response: bool = False) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a serializer's input, or of its output, without references."""
    generator = OperationSchema()
    generator.registry = ComponentRegistry()
    generator.view, generator.path, generator.method = ApiViewSet(request=None), "/mcp", "POST"
    component = generator.resolve_serializer(serializer, "response" if response else "request")
    components = generator.registry.build({}).get("schemas", {})
    # Without fields there may be no component.
    schema: dict[str, Any] = inlined(components.get(component.name, {}), components)
    return {"type": "object", "properties": {}} | schema


ResponseType = type[serializers.Serializer[Any]] | type[BaseModel]


def result_schema(response: ResponseType | tuple[ResponseType, ...]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a result, or of one of several, without references."""
    if isinstance(response, tuple):
        return {"type": "object", "anyOf": [result_schema(each) for each in response]}
    if not issubclass(response, BaseModel):
        return schema_of(response(), response=True)
    schema = response.model_json_schema(ref_template=f"{_REF}{{model}}", mode="serialization")
    whole: dict[str, Any] = inlined(schema, schema.pop("$defs", {}))
    return whole


def validation_errors(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield name, code and sentence of each argument that a tool does not have, or that is of the wrong JSON type."""
    known_names = schema["properties"]
    for name, messages in unknown_names((name for name in arguments if name not in known_names), known_names, kind="argument").items():
        yield name, "unknown_field", messages[0]
    for name, known in known_names.items():
        if name in arguments and not _fits(known, value := arguments[name]):
            null = value is None
            sentence = "null is not allowed here; leave it out." if null else f"It must be of the JSON type {' or '.join(_types(known))}."
            yield name, "null" if null else "invalid_type", sentence


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema["type"]
    return [kind] if isinstance(kind, str) else kind


def _fits(schema: Mapping[str, Any], value: Any) -> bool:
    kinds = _types(schema)
    if "array" in kinds and isinstance(value, list):
        return all(_fits(schema["items"], each) for each in value)
    return any(_is_of_type(kind, value) for kind in kinds if kind != "array")


def _is_of_type(kind: str, value: Any) -> bool:
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    # A boolean is an integer to Python.
    return isinstance(value, _JSON_TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def inlined(schema: Any, components: Mapping[str, Any]) -> Any:
    """Return a schema with its references resolved: ours are not recursive, and many clients follow none."""
    if isinstance(schema, list):
        return [inlined(part, components) for part in schema]
    if not isinstance(schema, dict):
        return schema
    target = inlined(components[schema["$ref"].removeprefix(_REF)], components) if "$ref" in schema else {}
    own = {name: inlined(value, components) for name, value in schema.items() if name != "$ref" and not name.startswith("x-")}
    # The generator's form of a reference that has a description of its own.
    for part in own.pop("allOf", ()):
        target |= part
    if _CONTROL in str(own.get("pattern", "")):
        # Patterns of refused characters are of no use to a model.
        del own["pattern"]
    if isinstance(own.get("description"), str):
        own["description"] = _CHOICES.sub("", own["description"])
        if not own["description"]:
            del own["description"]
    return target | own

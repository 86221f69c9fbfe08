"""The definition of a tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson
from mcp_types import ResourceLink, ToolAnnotations
from mcp_types import Tool as Definition
from rest_framework import serializers

from developers.principals import Principal
from marketplace.api.fields import Line
from marketplace.api.serializers import Body
from marketplace.core import bounds
from marketplace.core.scopes import Scope

from ..responses import as_json
from . import schemas

Arguments = dict[str, Any]


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool."""

    # The JSON that the API returns for the same operation.
    body: bytes
    # The result as a sentence for the model.
    text: str
    # Resources to read next.
    links: tuple[ResourceLink, ...] = ()
    # An address that the user has to open to continue, and the text that explains it; empty if there is none.
    address: str = ""
    reason: str = ""


def json_of(value: Mapping[str, Any]) -> bytes:
    """Return the JSON of a result as the API writes it."""
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)


def validated(serializer_class: type[serializers.Serializer[Any]], arguments: Arguments) -> dict[str, Any]:
    """Return the validated arguments.

    Raises:
        serializers.ValidationError: one is out of bounds.
    """
    values: dict[str, Any] = serializer_class().run_validation(arguments)
    return values


class AssetArgument(Body):
    """The asset."""

    assetId = Line(max_length=bounds.SLUG_CHARS, help_text="The asset's id or slug.")


@dataclass(frozen=True)
class Tool:
    """A tool."""

    name: str
    title: str
    # Its purpose, when to use it, and which tool to call next.
    description: str
    # The scope that the same operation of the API requires; None if any MCP token may call it.
    scope: Scope | None
    # The schemas of its arguments and of its result.
    arguments: type[serializers.Serializer[Any]]
    result: schemas.ResponseType | tuple[schemas.ResponseType, ...]
    # Runs it with arguments of the right JSON types.
    run: Callable[[Principal, Arguments], ToolResult]
    # JSON Schemas of further arguments, by name.
    filters: Mapping[str, Any] = field(default_factory=dict)
    # Clients decide by these three when to ask their users.
    read_only: bool = True
    # No other call can undo what it does.
    destructive: bool = False
    # Called again with the same arguments, it changes nothing more.
    idempotent: bool = True

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments: others are refused."""
        schema = schemas.schema_of(self.arguments())
        return schema | {"properties": schema["properties"] | schemas.inlined(self.filters, {}), "additionalProperties": False}

    @cached_property
    def definition(self) -> orjson.Fragment:
        """The tool as lists of tools show it, as JSON."""
        definition = Definition(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=schemas.result_schema(self.result),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                # Tools act on this service only.
                open_world_hint=False,
            ),
        )
        return orjson.Fragment(orjson.dumps(as_json(definition)))

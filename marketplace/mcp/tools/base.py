"""What a tool is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson
from mcp_types import ResourceLink, ToolAnnotations
from mcp_types import Tool as Definition
from rest_framework import serializers

from developers.principals import Principal
from marketplace.core.scopes import Scope

from . import schemas

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Told:
    """What a model and its user read of an answer.

    Args:
        text: What came out, in a sentence.
        links: Resources to read next.
    """

    text: str
    links: tuple[ResourceLink, ...] = ()


@dataclass(frozen=True)
class Effects:
    """What calling a tool does to the world; clients ask their users by it."""

    reads_only: bool = True
    # It takes something away that cannot be had back by another call.
    destructive: bool = False
    # Called again with the same arguments, it changes nothing more.
    idempotent: bool = True


@dataclass(frozen=True)
class Tool:
    """A tool.

    Args:
        name: By which it is called.
        title: By which people know it.
        description: What it is for, when to use it, and what comes next.
        scope: That its twin in the API demands; None: any tool token will do.
        takes: The shape of its arguments.
        gives: The shape of its answer.
        run: Does it, and returns the answer as JSON, or what serializes to it.
        tell: Says what an answer means.
        effects: What it does.
    """

    name: str
    title: str
    description: str
    scope: Scope | None
    takes: type[serializers.Serializer[Any]]
    gives: type[serializers.Serializer[Any]]
    run: Callable[[Principal, Arguments], Any]
    tell: Callable[[Mapping[str, Any]], Told]
    effects: Effects = Effects()

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments: nothing else is taken."""
        return schemas.schema_of(self.takes()) | {"additionalProperties": False}

    @cached_property
    def definition(self) -> orjson.Fragment:
        """What lists of tools show, as JSON."""
        definition = Definition(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=schemas.schema_of(self.gives(), answer=True),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.effects.reads_only,
                destructive_hint=self.effects.destructive,
                idempotent_hint=self.effects.idempotent,
                # The shop is all that it touches.
                open_world_hint=False,
            ),
        )
        return orjson.Fragment(orjson.dumps(definition.model_dump(mode="json", by_alias=True, exclude_none=True)))

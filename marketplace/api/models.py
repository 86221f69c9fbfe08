"""The base of answers that are models: executed, documented by drf-spectacular, and the source of the tools' output schemas."""

import uuid
from typing import Annotated, Any

from django.db.models import TextChoices
from drf_spectacular.plumbing import list_hash
from pydantic import AliasGenerator, BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel

from marketplace.core import money
from marketplace.core.money import Currency

# Opaque to clients.
Id = Annotated[uuid.UUID, WithJsonSchema({"type": "string"})]
# Minor units in, a number with two decimals out.
Amount = Annotated[float, BeforeValidator(money.to_number)]
AmountOrNone = Annotated[float | None, BeforeValidator(money.to_number_or_none)]


def one_of(choices: type[TextChoices]) -> WithJsonSchema:
    """Return the schema of a choice, by which drf-spectacular knows it from that of a serializer."""
    return WithJsonSchema({"type": "string", "enum": choices.values, "x-spec-enum-id": list_hash(choices.choices)})


def _name(field: str) -> str:
    """Return the name of a field in JSON: `price_inr` is priceINR."""
    name = to_camel(field)
    return name[:-3] + name[-3:].upper() if name[-3:].upper() in Currency.__members__ else name


def _plain(schema: dict[str, Any]) -> None:
    """Leave out the titles that pydantic makes of names, and write what may be null as a type of its own."""
    schema.pop("title", None)
    for shape in schema.get("properties", {}).values():
        shape.pop("title", None)
        match shape.get("anyOf"):
            case [{"type": kind, **more}, {"type": "null"}]:
                del shape["anyOf"]
                shape.update(more, type=[kind, "null"])


class Answer(BaseModel):
    """A part of an answer. What has a default factory is left out where it was not given."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(alias=_name), populate_by_name=True, from_attributes=True, json_schema_extra=_plain, frozen=True
    )

    def json_bytes(self) -> bytes:
        """Return it as JSON."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)

"""The base of pydantic response models, which drf-spectacular documents and from which tools get their output schemas."""

import uuid
from typing import Annotated, Any

from django.db.models import TextChoices
from drf_spectacular.plumbing import list_hash
from pydantic import AliasGenerator, BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel

from marketplace.core import money
from marketplace.core.money import Currency

# Documented as an opaque string.
Id = Annotated[uuid.UUID, WithJsonSchema({"type": "string"})]
# Validates minor units, serializes a number with two decimals.
Amount = Annotated[float, BeforeValidator(money.to_number)]
AmountOrNone = Annotated[float | None, BeforeValidator(money.to_number_or_none)]


def choice_schema(choices: type[TextChoices]) -> WithJsonSchema:
    """Return the schema of a choice, with the id by which drf-spectacular identifies the same choice in serializers."""
    return WithJsonSchema({"type": "string", "enum": choices.values, "x-spec-enum-id": list_hash(choices.choices)})


def _json_name(field: str) -> str:
    """Return the name of a field in JSON: `priceINR` for `price_inr`."""
    name = to_camel(field)
    return name[:-3] + name[-3:].upper() if name[-3:].upper() in Currency.__members__ else name


def _simplify(schema: dict[str, Any]) -> None:
    """Remove the titles that pydantic generates, and write nullable types as a list of types."""
    schema.pop("title", None)
    for shape in schema.get("properties", {}).values():
        shape.pop("title", None)
        match shape.get("anyOf"):
            case [{"type": kind, **more}, {"type": "null"}]:
                del shape["anyOf"]
                shape.update(more, type=[kind, "null"])


class ResponseModel(BaseModel):
    """Base of response models. A field with a default factory is left out of the response if it is not set."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(alias=_json_name),
        populate_by_name=True,
        from_attributes=True,
        json_schema_extra=_simplify,
        frozen=True,
    )

    def json_bytes(self) -> bytes:
        """Return the model as JSON."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)

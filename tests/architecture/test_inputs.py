"""What requests may hold: each part of each body has a bound that is judged before its parts are."""

from collections.abc import Iterator

import pytest
from rest_framework import serializers
from rest_framework.fields import Field

from marketplace.api.fields import BoundedList
from marketplace.api.serializers import Body
from marketplace.mcp.tools.calling import TOOLS
from tests.contract.calls import document

UNBOUNDED = (
    serializers.ListSerializer,
    serializers.DictField,
    serializers.JSONField,
    serializers.MultipleChoiceField,
    serializers.ManyRelatedField,
)
Input = type[serializers.Serializer]


def inputs() -> list[Input]:
    """Return the shape of every body and of every tool's arguments."""
    # Views, which define some of them, are loaded with the document.
    document()
    found: dict[Input, None] = dict.fromkeys(tool.arguments for tool in TOOLS.values())
    waiting: list[type[Body]] = [Body]
    while waiting:
        each = waiting.pop()
        found[each] = None
        waiting += each.__subclasses__()
    return list(found)


def fields_of(field: "Field | serializers.BaseSerializer") -> Iterator[Field]:
    yield field
    if isinstance(field, serializers.Serializer):
        for inner in field.fields.values():
            yield from fields_of(inner)
    elif isinstance(field, serializers.ListField):
        yield from fields_of(field.child)


def test_every_list_of_an_input_is_bounded_before_its_items_are_looked_at_and_every_text_has_a_length() -> None:
    shapes = inputs()
    assert len(shapes) > 30
    for shape in shapes:
        for field in fields_of(shape()):
            assert not isinstance(field, UNBOUNDED), (shape, field)
            assert not isinstance(field, serializers.ListField) or isinstance(field, BoundedList), (shape, field)
            assert not isinstance(field, serializers.CharField) or field.max_length is not None, (shape, field)


def test_list_without_a_length_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="max_length"):
        BoundedList(child=serializers.CharField())  # type: ignore[call-arg]  # the missing length is the subject

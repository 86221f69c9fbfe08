"""Bases of serializers for request bodies, query parameters and pages of lists."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Any, ClassVar

from rapidfuzz import fuzz, process
from rest_framework import serializers
from rest_framework.request import Request

from marketplace.core import bounds

from .fields import COMMON_ERRORS, BoundedInteger

_DIGITS = re.compile(r"-?[0-9]+")


class Body(serializers.Serializer[Any]):
    """Base for request bodies. Unknown fields are errors. Its lists are `BoundedList`s.

    `ignored_fields` are the read-only fields of the resource, which are accepted and ignored so that a client can send back what it has read.
    """

    ignored_fields: ClassVar[frozenset[str]] = frozenset()
    default_error_messages = COMMON_ERRORS | {"invalid": "A JSON object is required."}

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated values; raise an error for each unknown field, at most `bounds.MAX_UNKNOWN_NAMES`."""
        if isinstance(data, Mapping):
            names = (name for name in data if name not in self.fields and name not in self.ignored_fields)
            if unknown := unknown_names(names, self.fields, kind="field"):
                raise serializers.ValidationError(unknown, code="unknown_field")
        return super().to_internal_value(data)


class EmptyBody(Body):
    """No fields: the operation takes no body, or an empty object."""


def parse_body(serializer_class: type[Body], request: Request, **kwargs: Any) -> dict[str, Any]:
    """Return the validated body of a request."""
    if request.data is None:
        raise serializers.ValidationError("A JSON object is required, not null.", code="null")
    serializer = serializer_class(data=request.data, **kwargs)
    serializer.is_valid(raise_exception=True)
    validated: dict[str, Any] = serializer.validated_data
    return validated


@cache
def query_serializer(serializer_class: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """Return a shared instance that validates all queries: creating one takes longer than the validation."""
    return serializer_class()


class QueryInteger(BoundedInteger):
    """A whole number in ASCII digits; DRF also accepts what Python does, such as `1_0`, `1.0` and digits of any script."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, str) and _DIGITS.fullmatch(data) is None:
            self.fail("invalid")
        return int(super().to_internal_value(data))


class Limit(QueryInteger):
    """Results per page, from 1; larger values are reduced to the maximum."""

    def __init__(self, *, default: int, maximum: int) -> None:
        self.maximum = maximum
        super().__init__(min_value=1, default=default, help_text=f"Maximum {maximum}; larger values are reduced to it.")

    def to_internal_value(self, data: Any) -> int:
        return min(super().to_internal_value(data), self.maximum)


class PageNumber(QueryInteger):
    """A page number, from 1."""

    def __init__(self) -> None:
        super().__init__(min_value=1, max_value=bounds.MAX_PAGE, default=1)


class PageSerializer(serializers.Serializer[Any]):
    """Base of a page of a list, to which subclasses add the `items`."""

    total = serializers.IntegerField()
    page = serializers.IntegerField()


# The least similarity of a suggested name, in percent.
_SIMILARITY_PERCENT = 60


def unknown_names(names: Iterable[str], known: Collection[str], *, kind: str) -> dict[str, list[str]]:
    """Return a message for each of the first unknown names, which suggests a similar known one.

    Args:
        names: The unknown names, of any number.
        known: The known names.
        kind: What they are called: field, parameter or argument.
    """
    cut = (name[: bounds.NAME_CHARS] for name in islice(names, bounds.MAX_UNKNOWN_NAMES))
    return {name: [_message(name, known, kind)] for name in cut}


def _message(name: str, known: Collection[str], kind: str) -> str:
    nearest = process.extractOne(name, sorted(known), scorer=fuzz.ratio, processor=str.casefold, score_cutoff=_SIMILARITY_PERCENT)
    return f"There is no such {kind}. Did you mean {nearest[0]}?" if nearest else f"There is no such {kind}."

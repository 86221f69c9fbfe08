"""Filters of lists by query parameters, with django-filter: times as the API writes them, and their documentation."""

from datetime import datetime
from typing import Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from marketplace.core.ids import parse_id

from .fields import MOMENT_SCHEMA, Moment

_ID_CHARS = 36


class MomentField(forms.Field):
    """A time with its offset from UTC."""

    def to_python(self, value: Any) -> datetime | None:
        if value in self.empty_values:
            return None
        try:
            return Moment().to_internal_value(value)
        except serializers.ValidationError as error:
            raise ValidationError([ValidationError(str(each), code=each.code) for each in error.detail]) from error  # type: ignore[union-attr]  # a list


class MomentFilter(django_filters.Filter):  # type: ignore[misc]  # django-filter ships no types
    """Compares a time with one that is given with its offset from UTC."""

    field_class = MomentField


class IdFilter(django_filters.CharFilter):  # type: ignore[misc]  # django-filter ships no types
    """The id of a related row; an unknown one matches nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, max_length=_ID_CHARS, **kwargs)

    def filter(self, queryset: Any, value: str) -> Any:
        if not value:
            return queryset
        key = parse_id(value)
        return queryset.none() if key is None else queryset.filter(**{self.field_name: key})


def filter_parameters(filters: type[django_filters.FilterSet]) -> list[OpenApiParameter]:
    """Return the filters' query parameters for the OpenAPI document."""
    fields = {name: declared.field for name, declared in filters.base_filters.items()}
    return [OpenApiParameter(name, _schema(field), OpenApiParameter.QUERY, description=field.help_text) for name, field in fields.items()]


def _schema(field: forms.Field) -> dict[str, Any]:
    match field:
        case MomentField():
            return dict(MOMENT_SCHEMA)
        case forms.ChoiceField():
            choices: Any = field.choices
            return {"type": "string", "enum": [value for value, _ in choices if value]}
    return {"type": "string", "maxLength": _ID_CHARS, "pattern": r"^[^\u0000]*$"}

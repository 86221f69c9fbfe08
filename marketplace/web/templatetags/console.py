"""Template filters for the fields of the console."""

from collections.abc import Sequence

from django import forms, template

register = template.Library()


@register.filter
def optional_fields(fields: Sequence[forms.BoundField]) -> list[forms.BoundField]:
    """Return the fields that a call can do without."""
    return [field for field in fields if not field.field.required]


@register.filter
def any_typed(fields: Sequence[forms.BoundField]) -> bool:
    """Tell whether something was typed into one of them, or is wrong with it."""
    return any(field.errors or field.value() for field in fields)

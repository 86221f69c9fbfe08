"""Template filters for the admin's tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import template
from django.contrib.admin.helpers import AdminReadonlyField
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

from ..formatting import when

register = template.Library()


@register.filter
def cell(value: Any) -> Any:
    """Return a value for display: a time as `3 hours ago`, a boolean as yes or no, a list separated by commas, None as an empty string."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return when(value)
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return value


@register.filter
def shown(field: AdminReadonlyField) -> Any:
    """Return the content of a read-only field as the change list shows it."""
    model_admin: Any = field.model_admin
    show = model_admin.shown(field.field["field"])
    return show(field.form.instance) if callable(show) else field.contents()


@register.filter
def label(field: AdminReadonlyField) -> str:
    """Return the label of a read-only field as the column head of the change list has it."""
    model_admin: Any = field.model_admin
    show = model_admin.shown(field.field["field"])
    return capfirst(show.short_description if callable(show) else field.field["label"])


@register.filter
def headed(cells: Iterable[SafeString], headers: Sequence[Mapping[str, Any]]) -> Iterator[SafeString]:
    """Return the cells of a change list's row with their column heads, which are shown beside them on a phone."""
    for html, header in zip(cells, headers, strict=False):
        text = str(header["text"])
        # The head of the column of checkboxes is a checkbox itself.
        name = "" if text.startswith("<") else escape(capfirst(text))
        yield mark_safe(html.replace(" ", f' data-label="{name}" ', 1)) if name else html  # noqa: S308 - the cell is escaped by Django, the name above

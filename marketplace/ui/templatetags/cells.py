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
    """Return a value as people read it: times in words, nothing for nothing."""
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
    """Return what stands in a field that is only looked at, as lists show it."""
    of_ours: Any = field.model_admin
    show = of_ours.shown(field.field["field"])
    return show(field.form.instance) if callable(show) else field.contents()


@register.filter
def headed(cells: Iterable[SafeString], headers: Sequence[Mapping[str, Any]]) -> Iterator[SafeString]:
    """Return the cells of a row of Django's list with their column's head, which stands beside them on a phone."""
    for drawn, header in zip(cells, headers, strict=False):
        text = str(header["text"])
        # The head of the boxes to tick is a box itself.
        name = "" if text.startswith("<") else escape(capfirst(text))
        # Both are escaped: the cell by Django, the name here.
        yield mark_safe(drawn.replace(" ", f' data-label="{name}" ', 1)) if name else drawn  # noqa: S308

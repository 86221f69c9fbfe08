"""What stands in the admin's tables."""

from datetime import datetime
from typing import Any

from django import template

from ..wording import when

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

"""Formats values in the admin: times in words, states as badges, booleans as yes or no."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import BooleanField, DateTimeField, Model

from .wording import badge, when

STATES = ("status", "update_status")


def column(model: type[Model], name: Any) -> Any:
    """Return what shows the column: a function for times, states and what is true or not; the name itself for everything else."""
    if not isinstance(name, str):
        return name
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return _named(name, "", lambda row: badge(getattr(row, name))) if name in STATES else name
    label = str(getattr(field, "verbose_name", name))
    if isinstance(field, DateTimeField):
        return _named(name, label, lambda row: when(getattr(row, name)) or "-", ordered=True)
    if isinstance(field, BooleanField):
        return _named(name, label, lambda row: "yes" if getattr(row, name) else "no", ordered=True)
    if name in STATES:
        return _named(name, label, lambda row: badge(getattr(row, name)) if getattr(row, name) else "-", ordered=True)
    return name


def _named(name: str, label: str, show: Callable[[Any], Any], *, ordered: bool = False) -> Any:
    def cell(row: Any) -> Any:
        return show(row)

    cell.__name__ = name
    cell.short_description = label or name  # type: ignore[attr-defined]  # how Django reads a column
    if ordered:
        cell.admin_order_field = name  # type: ignore[attr-defined]  # as above
    return cell

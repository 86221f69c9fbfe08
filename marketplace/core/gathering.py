"""Several lists in one statement: what a page shows beside its row.

Each list is a queryset as a selector returns it, and comes back as the objects that it would have been, with related rows and
annotations. On the way a row is a JSON array of its columns, so that rows of every kind fit into one UNION.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from django.db import connection, models
from django.db.models import Count, F, QuerySet, Value, Window
from django.db.models.functions import JSONArray, RowNumber
from django.utils.timezone import is_naive

Lists = Mapping[str, QuerySet[Any]]
Found = dict[str, list[Any]]


def gather(lists: Lists) -> Found:
    """Return the rows of each list by its name, in its order, with the related rows that it selects."""
    kinds = {name: _Kind(rows) for name, rows in lists.items()}
    if not kinds:
        return {}
    first, *others = (kind.arm(name) for name, kind in kinds.items())
    found: dict[str, list[tuple[int, Any]]] = {name: [] for name in kinds}
    for name, place, columns in first.union(*others, all=True) if others else first:
        found[name].append((place, columns))
    return {name: [kinds[name].made(columns) for _, columns in sorted(found[name], key=lambda row: row[0])] for name in kinds}


def numbers(**lists: "QuerySet[Any]") -> dict[str, int]:
    """Return how many rows each list has, by its name."""
    first, *others = (
        rows.order_by().annotate(counted=Value(name)).values("counted").annotate(number=Count("pk")).values_list("counted", "number")
        for name, rows in lists.items()
    )
    return dict.fromkeys(lists, 0) | dict(first.union(*others, all=True) if others else first)


class _Part:
    """One of the models of a list: its own, or one that it selects along.

    Args:
        path: How it is reached, empty for the list's own.
        key: The foreign key that leads to it.
        model: The model.
        wanted: Names of the fields to read; every one where there are none.
    """

    def __init__(self, path: str, key: Any, model: type[models.Model], wanted: set[str]) -> None:
        self.path, self.key, self.model = path, key, model
        self.before = path.rpartition("__")[0]
        start = f"{path}__" if path else ""
        # The first step of each name: a foreign key on the way to what is wanted is wanted itself.
        chosen = {name.removeprefix(start).split("__", 1)[0] for name in wanted if name.startswith(start)}
        self.fields = [each for each in model._meta.concrete_fields if not chosen or each.primary_key or each.name in chosen]
        self.columns = JSONArray(*(F(start + each.attname) for each in self.fields))

    def made(self, values: list[Any]) -> models.Model | None:
        """Return the row; one that is not there comes as nothing but NULLs, its primary key among them."""
        row = {each.attname: _value(each, value) for each, value in zip(self.fields, values, strict=True)}
        return None if row[self.model._meta.pk.attname] is None else self.model.from_db(connection.alias, list(row), list(row.values()))


class _Kind:
    """How the rows of one list are asked for, and made."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        self._rows = rows
        named, deferred = rows.query.deferred_loading
        self._parts = list(_parts(rows.model, rows.query.select_related or {}, set() if deferred else set(named)))
        self._figures: dict[str, Any] = rows.query.annotation_select

    def arm(self, name: str) -> QuerySet[Any, Any]:
        """Return the rows as one arm of the union: the list's name, the place in it, the columns."""
        rows = self._rows
        order: Any = rows.query.order_by or rows.model._meta.ordering
        if rows.query.is_sliced:
            # An arm of a union cannot have a limit of its own on every engine.
            limited, rows = rows.values("pk"), rows.all()
            rows.query.clear_limits()
            rows = rows.filter(pk__in=limited)
        shape = {
            "gathered_name": Value(name, output_field=models.CharField()),
            "gathered_place": Window(RowNumber(), order_by=order),
            "gathered_columns": JSONArray(*(part.columns for part in self._parts), JSONArray(*map(F, self._figures))),
        }
        arm: QuerySet[Any, Any] = rows.order_by().annotate(**shape).values_list(*shape)
        return arm

    def made(self, columns: list[list[Any]]) -> Any:
        """Return a row with its related rows and its annotations."""
        *rows, figures = columns
        made: dict[str, Any] = {}
        for part, values in zip(self._parts, rows, strict=True):
            made[part.path] = part.made(values)
            if part.path and made[part.before] is not None:
                part.key.set_cached_value(made[part.before], made[part.path])
        for (name, expression), value in zip(self._figures.items(), figures, strict=True):
            setattr(made[""], name, _value(expression.output_field, value))
        return made[""]


def _parts(model: type[models.Model], related: Any, wanted: set[str], path: str = "", key: Any = None) -> Iterator[_Part]:
    yield _Part(path, key, model, wanted)
    for name, further in related.items():
        inner: Any = model._meta.get_field(name)
        yield from _parts(inner.related_model, further, wanted, f"{path}__{name}" if path else name, inner)


def _value(field: "models.Field[Any, Any]", value: Any) -> Any:
    """Return a column's value as the field has it; JSON knows neither times nor ids nor exact fractions."""
    if value is None:
        return None
    if isinstance(field, models.JSONField):
        # SQLite has JSON as text.
        return json.loads(value) if isinstance(value, str) else value
    made = field.to_python(str(value) if isinstance(field, models.DecimalField) else value)
    if isinstance(field, models.DateTimeField) and is_naive(made):
        # SQLite's times are in UTC and do not say so.
        return made.replace(tzinfo=UTC)
    return made

"""Several lists in one statement: what a page shows beside its row.

For pages that show a few short lists of other tables, where a statement for each would be what the page waits for. Elsewhere a
queryset is simpler, and streams.

Each list is a queryset as a selector returns it, and comes back as the objects that it would have been, with related rows,
annotations and slices, and without the columns that it leaves out. On the way a row is a JSON array of its columns, so that
rows of every kind fit into one UNION.

What does not come back as it was is refused with `NotSupportedError`: see `_refuse_what_is_lost` and `_CARRIED`. Two things are
not kept and asked for again: of `owner.stores.all()` each store's owner, and the way back from a related row.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from decimal import Decimal
from typing import Any

from django.db import NotSupportedError, models
from django.db.models import Count, F, QuerySet, TextField, Value, Window
from django.db.models.constants import LOOKUP_SEP
from django.db.models.functions import Cast, JSONArray, RowNumber
from django.utils.timezone import is_naive

Lists = Mapping[str, QuerySet[Any]]
Found = dict[str, list[Any]]

# JSON knows texts, numbers and booleans; ids and times are texts that their fields read.
_CARRIED = (models.BooleanField, models.CharField, models.TextField, models.IntegerField, models.DateField, models.UUIDField)
# As JSON, a fraction would lose digits, and a text would be told from an object on one engine only.
_AS_TEXT = (models.DecimalField, models.JSONField)


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
    for rows in lists.values():
        _refuse_what_is_lost(rows)
        if rows.query.is_sliced or rows.query.annotations:
            raise NotSupportedError("Only what is filtered is counted together.")
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
        mask: The fields to read; every one where there are none.
    """

    def __init__(self, path: str, key: Any, model: type[models.Model], mask: Mapping[Any, Any]) -> None:
        self.path, self.key, self.model = path, key, model
        self.before = path.rpartition(LOOKUP_SEP)[0]
        start = f"{path}{LOOKUP_SEP}" if path else ""
        self.fields = {each.attname: _read_by(each) for each in model._meta.concrete_fields if not mask or each in mask}
        self.columns = JSONArray(*(_column(start + name, field) for name, field in self.fields.items()))

    def made(self, values: list[Any], alias: str) -> models.Model | None:
        """Return the row; one that is not there comes as nothing but NULLs, its primary key among them."""
        row = {name: _value(field, value) for (name, field), value in zip(self.fields.items(), values, strict=True)}
        return None if row[self.model._meta.pk.attname] is None else self.model.from_db(alias, list(row), list(row.values()))


class _Kind:
    """How the rows of one list are asked for, and made."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        _refuse_what_is_lost(rows)
        self._rows = rows
        self._parts = list(_parts(rows.model, rows.query.select_related or {}, rows.query.get_select_mask()))
        self._figures = {name: _read_by(expression.output_field) for name, expression in rows.query.annotation_select.items()}

    def arm(self, name: str) -> QuerySet[Any, Any]:
        """Return the rows as one arm of the union: the list's name, the place in it, the columns."""
        rows = self._rows
        order: Any = rows.query.order_by or rows.model._meta.ordering
        if rows.query.is_sliced:
            # An arm of a union cannot have a limit of its own on every engine.
            limited, rows = rows.values("pk"), rows.all()
            rows.query.clear_limits()
            rows = rows.filter(pk__in=limited)
        figures = JSONArray(*(_column(figure, field) for figure, field in self._figures.items()))
        shape = {
            "gathered_name": Value(name, output_field=models.CharField()),
            "gathered_place": Window(RowNumber(), order_by=order),
            "gathered_columns": JSONArray(*(part.columns for part in self._parts), figures),
        }
        arm: QuerySet[Any, Any] = rows.order_by().annotate(**shape).values_list(*shape)
        return arm

    def made(self, columns: list[list[Any]]) -> Any:
        """Return a row with its related rows and its annotations."""
        *rows, figures = columns
        made: dict[str, Any] = {}
        for part, values in zip(self._parts, rows, strict=True):
            made[part.path] = part.made(values, self._rows.db)
            if part.path and made[part.before] is not None:
                part.key.set_cached_value(made[part.before], made[part.path])
        for (name, field), value in zip(self._figures.items(), figures, strict=True):
            setattr(made[""], name, _value(field, value))
        return made[""]


def _refuse_what_is_lost(rows: Any) -> None:
    """Refuse a queryset that says more than an arm of a union can.

    Raises:
        NotSupportedError: it does.
    """
    query: Any = rows.query
    lost = {
        "values": query.values_select or not issubclass(rows._iterable_class, models.query.ModelIterable),
        "distinct": query.distinct,
        "union": query.combinator,
        "a composite primary key": rows.model._meta.is_composite_pk,
        "extra": query.extra,
        "reverse": not query.standard_ordering,
        "select_for_update": query.select_for_update,
        "select_related of everything": query.select_related is True,
        "prefetch_related": rows._prefetch_related_lookups,
        "the order of another model": any(_orders_as_another(query, name) for name in query.order_by or rows.model._meta.ordering),
    }
    for what, is_there in lost.items():
        if is_there:
            raise NotSupportedError(f"Rows with {what} cannot be gathered.")


def _orders_as_another(query: Any, name: Any) -> bool:
    """Tell whether to order by this foreign key is to order as the rows that it leads to are."""
    steps = name.lstrip("-").split(LOOKUP_SEP) if isinstance(name, str) else []
    if not steps or steps[0] in query.annotations:
        return False
    field = query.names_to_path(steps, query.get_meta())[1]
    return bool(field.is_relation and steps[-1] not in {field.attname, "pk"} and field.related_model._meta.ordering)


def _parts(model: type[models.Model], related: Any, mask: Mapping[Any, Any], path: str = "", key: Any = None) -> Iterator[_Part]:
    yield _Part(path, key, model, mask)
    for name, further in related.items():
        inner: Any = model._meta.get_field(name)
        yield from _parts(inner.related_model, further, mask.get(inner, {}), f"{path}{LOOKUP_SEP}{name}" if path else name, inner)


def _read_by(field: Any) -> Any:
    """Return the field that knows what the column holds: of a foreign key the one it points to, of a computed one its kind.

    Raises:
        NotSupportedError: what it holds would not come back as it was.
    """
    while field.is_relation:
        field = field.target_field
    field = field.output_field if field.generated else field
    carried = isinstance(field, _AS_TEXT) or (isinstance(field, _CARRIED) and not hasattr(field, "from_db_value"))
    if not carried:
        raise NotSupportedError(f"A {type(field).__name__} cannot be gathered.")
    return field


def _column(path: str, field: Any) -> Any:
    return Cast(F(path), TextField()) if isinstance(field, _AS_TEXT) else F(path)


def _value(field: Any, value: Any) -> Any:
    """Return a column's value as its field has it."""
    if value is None:
        return None
    if isinstance(field, models.JSONField):
        return json.loads(value, cls=field.decoder)
    made = field.to_python(value)
    if isinstance(field, models.DecimalField) and field.decimal_places is not None:
        # SQLite leaves out zeros at the end.
        return made.quantize(Decimal(1).scaleb(-field.decimal_places))
    if isinstance(field, models.DateTimeField) and is_naive(made):
        # SQLite's times are in UTC and do not say so.
        return made.replace(tzinfo=UTC)
    return made

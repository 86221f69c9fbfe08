"""Several querysets read in one statement: what a page of the admin shows beside its row.

A page that shows the history, keys, tokens and deliveries of an app would send a statement for each, one after the other. Here they
become the arms of one UNION ALL. Since their columns differ, an arm returns each row as a JSON array of its columns, and the model
instances are built from that: with the related rows of `select_related`, with annotations, slices, `only` and `defer`.

Use it for a few short lists. Elsewhere a plain queryset is simpler, and streams.

Django has no public way to ask a queryset for the columns and joins that it selects, so this module reads attributes of
`QuerySet.query`. It is written for the pinned Django version; `tests/core/test_combined_queries.py` compares every supported kind of
queryset with what the ORM itself returns. What would not come back unchanged is refused with `NotSupportedError`, see
`_refuse_unsupported` and `_AS_JSON`. Two cached values are not filled and are read again when they are used: the owner of each store
in `owner.stores.all()`, and the reverse side of a one-to-one key.
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

QuerySets = Mapping[str, QuerySet[Any]]
Fetched = dict[str, list[Any]]

# What survives as a JSON value: texts, numbers and booleans; ids and times as texts, which `to_python` of their fields parses.
_AS_JSON = (models.BooleanField, models.CharField, models.TextField, models.IntegerField, models.DateField, models.UUIDField)
# What is sent as text: a decimal would lose digits as a JSON number, and SQLite would return nested JSON as a string.
_AS_TEXT = (models.DecimalField, models.JSONField)


def fetch_combined(querysets: QuerySets) -> Fetched:
    """Return the rows of each queryset by its name, as lists in the order of the queryset.

    Raises:
        NotSupportedError: a queryset uses what an arm of the union cannot express.
    """
    arms = {name: _Arm(rows) for name, rows in querysets.items()}
    if not arms:
        return {}
    first, *others = (arm.queryset(name) for name, arm in arms.items())
    found: dict[str, list[tuple[int, Any]]] = {name: [] for name in arms}
    for name, position, columns in first.union(*others, all=True) if others else first:
        found[name].append((position, columns))
    return {name: [arms[name].build(columns) for _, columns in sorted(found[name], key=lambda row: row[0])] for name in arms}


def count_combined(**querysets: "QuerySet[Any]") -> dict[str, int]:
    """Return how many rows each queryset has, by its name.

    Raises:
        NotSupportedError: a queryset does more than filter.
    """
    for rows in querysets.values():
        _refuse_unsupported(rows)
        if rows.query.is_sliced or rows.query.annotations:
            raise NotSupportedError("Values are only counted with filters.")
    first, *others = (
        rows.order_by().annotate(counted=Value(name)).values("counted").annotate(number=Count("pk")).values_list("counted", "number")
        for name, rows in querysets.items()
    )
    return dict.fromkeys(querysets, 0) | dict(first.union(*others, all=True) if others else first)


class _Source:
    """A model whose columns an arm selects: that of the queryset, or one that `select_related` names.

    Args:
        path: The look-up path to it, empty for the model of the queryset.
        key: The foreign key that leads to it, None for the model of the queryset.
        model: The model.
        mask: The fields that `only` and `defer` leave, as Django keeps them; empty for all.
    """

    def __init__(self, path: str, key: Any, model: type[models.Model], mask: Mapping[Any, Any]) -> None:
        self.path, self.key, self.model = path, key, model
        self.parent_path = path.rpartition(LOOKUP_SEP)[0]
        start = f"{path}{LOOKUP_SEP}" if path else ""
        self.fields = {each.attname: _value_field(each) for each in model._meta.concrete_fields if not mask or each in mask}
        self.columns = JSONArray(*(_column(start + name, field) for name, field in self.fields.items()))

    def build(self, values: list[Any], alias: str) -> models.Model | None:
        """Return the instance; None when the join found no row, so that even the primary key is NULL."""
        row = {name: _value(field, value) for (name, field), value in zip(self.fields.items(), values, strict=True)}
        return None if row[self.model._meta.pk.attname] is None else self.model.from_db(alias, list(row), list(row.values()))


class _Arm:
    """One queryset as an arm of the union, and its rows as instances again."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        _refuse_unsupported(rows)
        self._rows = rows
        self._sources = list(_sources(rows.model, rows.query.select_related or {}, rows.query.get_select_mask()))
        self._annotations = {name: _value_field(expression.output_field) for name, expression in rows.query.annotation_select.items()}

    def queryset(self, arm_name: str) -> QuerySet[Any, Any]:
        """Return the arm: the name of the queryset, the row's position in it, and its columns as JSON."""
        rows = self._rows
        order: Any = rows.query.order_by or rows.model._meta.ordering
        if rows.query.is_sliced:
            # An arm of a union cannot have a limit of its own on every engine.
            limited, rows = rows.values("pk"), rows.all()
            rows.query.clear_limits()
            rows = rows.filter(pk__in=limited)
        annotations = JSONArray(*(_column(name, field) for name, field in self._annotations.items()))
        shape = {
            "combined_name": Value(arm_name, output_field=models.CharField()),
            "combined_position": Window(RowNumber(), order_by=order),
            "combined_columns": JSONArray(*(source.columns for source in self._sources), annotations),
        }
        arm: QuerySet[Any, Any] = rows.order_by().annotate(**shape).values_list(*shape)
        return arm

    def build(self, columns: list[list[Any]]) -> Any:
        """Return an instance with its related instances and its annotations."""
        *rows, annotations = columns
        made: dict[str, Any] = {}
        for source, values in zip(self._sources, rows, strict=True):
            made[source.path] = source.build(values, self._rows.db)
            if source.path and made[source.parent_path] is not None:
                source.key.set_cached_value(made[source.parent_path], made[source.path])
        for (name, field), value in zip(self._annotations.items(), annotations, strict=True):
            setattr(made[""], name, _value(field, value))
        return made[""]


def _refuse_unsupported(rows: Any) -> None:
    """Refuse a queryset that uses what an arm of the union cannot express.

    Raises:
        NotSupportedError: it does.
    """
    query: Any = rows.query
    unsupported = {
        "values": query.values_select or not issubclass(rows._iterable_class, models.query.ModelIterable),
        "distinct": query.distinct,
        "union": query.combinator,
        "a composite primary key": rows.model._meta.is_composite_pk,
        "extra": query.extra,
        "reverse": not query.standard_ordering,
        "select_for_update": query.select_for_update,
        "select_related of everything": query.select_related is True,
        "prefetch_related": rows._prefetch_related_lookups,
        "the order of another model": any(_is_ordered_by_relation(query, name) for name in query.order_by or rows.model._meta.ordering),
    }
    for what, is_used in unsupported.items():
        if is_used:
            raise NotSupportedError(f"Rows with {what} cannot be combined.")


def _is_ordered_by_relation(query: Any, name: Any) -> bool:
    """Tell whether a name in `order_by` is a foreign key, which Django replaces by the ordering of the related model."""
    steps = name.lstrip("-").split(LOOKUP_SEP) if isinstance(name, str) else []
    if not steps or steps[0] in query.annotations:
        return False
    field = query.names_to_path(steps, query.get_meta())[1]
    return bool(field.is_relation and steps[-1] not in {field.attname, "pk"} and field.related_model._meta.ordering)


def _sources(model: type[models.Model], related: Any, mask: Mapping[Any, Any], path: str = "", key: Any = None) -> Iterator[_Source]:
    yield _Source(path, key, model, mask)
    for name, further in related.items():
        inner: Any = model._meta.get_field(name)
        yield from _sources(inner.related_model, further, mask.get(inner, {}), f"{path}{LOOKUP_SEP}{name}" if path else name, inner)


def _value_field(field: Any) -> Any:
    """Return the field that parses the values of a column: for a foreign key its target, for a generated field its output field.

    Raises:
        NotSupportedError: values of this field would not come back unchanged.
    """
    while field.is_relation:
        field = field.target_field
    field = field.output_field if field.generated else field
    supported = isinstance(field, _AS_TEXT) or (isinstance(field, _AS_JSON) and not hasattr(field, "from_db_value"))
    if not supported:
        raise NotSupportedError(f"A {type(field).__name__} cannot be combined.")
    return field


def _column(path: str, field: Any) -> Any:
    return Cast(F(path), TextField()) if isinstance(field, _AS_TEXT) else F(path)


def _value(field: Any, value: Any) -> Any:
    """Return the Python value of a column."""
    if value is None:
        return None
    if isinstance(field, models.JSONField):
        return json.loads(value, cls=field.decoder)
    parsed = field.to_python(value)
    if isinstance(field, models.DecimalField) and field.decimal_places is not None:
        # SQLite leaves out zeros at the end.
        return parsed.quantize(Decimal(1).scaleb(-field.decimal_places))
    if isinstance(field, models.DateTimeField) and is_naive(parsed):
        # SQLite's times are in UTC and do not say so.
        return parsed.replace(tzinfo=UTC)
    return parsed

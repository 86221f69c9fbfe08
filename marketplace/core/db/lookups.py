"""Look-ups of one row by a unique column, with related rows, whose SQL is built once in a process.

For authentication, which looks up a credential with its app and user on every call: there the ORM takes several times as long to build
the statement as the database takes to run it.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import connection, models

from .prepared import prepared_cursor

M = TypeVar("M", bound=models.Model)
Converter = Callable[..., Any]


class PreparedLookup(Generic[M]):
    """Finds rows of a model by a unique column.

    Args:
        model: The model.
        column: The name of the column's field.
        related: Foreign keys whose rows are joined, in the notation of `select_related`, each after the one that it goes through.
    """

    def __init__(self, model: type[M], column: str, related: tuple[str, ...]) -> None:
        self._model, self._column, self._related = model, column, related

    def find(self, value: str) -> M | None:
        """Return the row, None when there is none."""
        with prepared_cursor(connection) as cursor:
            cursor.execute(self._statement, [value])
            row = cursor.fetchone()
        return None if row is None else self._object(row)

    @cached_property
    def _parts(self) -> list[tuple[str, Any, type[models.Model]]]:
        """Look-up path, foreign key and model of each joined table, the model's own first."""
        parts: list[tuple[str, Any, type[models.Model]]] = [("", None, self._model)]
        for path in self._related:
            before, _, name = path.rpartition("__")
            key = next(model for known, _, model in parts if known == before)._meta.get_field(name)
            parts.append((path, key, key.related_model))  # type: ignore[arg-type]  # a foreign key's is a model
        return parts

    @cached_property
    def _columns(self) -> list[list[tuple[Any, list[Converter]]]]:
        """Field and converters of the columns of each joined table; the converters make of a database value what the ORM would return."""
        return [
            [
                (field, [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)])
                for field in model._meta.concrete_fields
                for column in (field.get_col(model._meta.db_table),)
            ]
            for _, _, model in self._parts
        ]

    @cached_property
    def _statement(self) -> str:
        quote, places = connection.ops.quote_name, {path: number for number, (path, _, _) in enumerate(self._parts)}
        shown = [f"r{number}.{quote(field.column)}" for number, columns in enumerate(self._columns) for field, _ in columns]
        joins = [
            f"LEFT JOIN {quote(model._meta.db_table)} r{number}"
            f" ON r{number}.{quote(str(model._meta.pk.column))} = r{places[path.rpartition('__')[0]]}.{quote(key.column)}"
            for number, (path, key, model) in enumerate(self._parts)
            if path
        ]
        column = quote(str(self._model._meta.get_field(self._column).column))  # type: ignore[union-attr]  # a column of its own
        # Names of our own tables and columns; the value is a parameter.
        return f"SELECT {', '.join(shown)} FROM {quote(self._model._meta.db_table)} r0 {' '.join(joins)} WHERE r0.{column} = %s"  # noqa: S608

    def _object(self, row: tuple[Any, ...]) -> M:
        made: dict[str, Any] = {}
        start = 0
        for (path, key, model), columns in zip(self._parts, self._columns, strict=True):
            values = row[start : start + len(columns)]
            start += len(columns)
            # Where the join found no row, every column is NULL, the primary key too.
            there = values[model._meta.concrete_fields.index(model._meta.pk)] is not None
            made[path] = _made(model, columns, values) if there else None
            before = made[path.rpartition("__")[0]] if path else None
            if before is not None:
                key.set_cached_value(before, made[path])
        found: M = made[""]
        return found


def _made(model: type[models.Model], columns: list[tuple[Any, list[Converter]]], values: tuple[Any, ...]) -> models.Model:
    converted = []
    for value, (field, converters) in zip(values, columns, strict=True):
        for converter in converters:
            value = converter(value, field, connection)  # noqa: PLW2901 - each converts what the one before it returned
        converted.append(value)
    return model.from_db(connection.alias, [field.attname for field, _ in columns], converted)

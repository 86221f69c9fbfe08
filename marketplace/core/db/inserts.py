"""INSERT without the overhead of `Model.save()`, for short transactions under a contended lock: one statement, values prepared by the fields."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.db import connection, models
from django.utils import timezone


def insert_rows(model: type[models.Model], *rows: Mapping[str, Any], then: str = "", given: Sequence[Any] = ()) -> int:
    """Insert rows in one statement; return how many were written.

    Args:
        model: The model; its signals and `save` are not called.
        *rows: Values by attribute name (`buyer_id`); a field that is left out gets its default.
        then: SQL that follows the values, such as an ON CONFLICT clause.
        given: Parameters of `then`.
    """
    fields = _fields(model)
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    marks = ", ".join([f"({', '.join(['%s'] * len(fields))})"] * len(rows))
    values = [field.get_db_prep_save(_value(field, row), connection) for row in rows for field in fields]
    with connection.cursor() as cursor:
        # Names of our own tables and columns; every value is a parameter.
        cursor.execute(f"INSERT INTO {model._meta.db_table} ({columns}) VALUES {marks} {then}", [*values, *given])  # noqa: S608
        written: int = cursor.rowcount
    return written


@cache
def _fields(model: type[models.Model]) -> "tuple[models.Field[Any, Any], ...]":
    return tuple(field for field in model._meta.concrete_fields if not field.generated)


def _value(field: "models.Field[Any, Any]", row: Mapping[str, Any]) -> Any:
    if field.attname in row:
        return row[field.attname]
    return timezone.now() if getattr(field, "auto_now_add", False) else field.get_default()

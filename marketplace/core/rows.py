"""INSERT without the ORM's detours, for transactions whose length others wait for: one statement, the values prepared by the model's own fields."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.db import connection, models
from django.utils import timezone


def insert(model: type[models.Model], *rows: Mapping[str, Any], then: str = "", given: Sequence[Any] = ()) -> int:
    """Insert rows in one statement; return how many were written.

    Args:
        model: Whose table.
        *rows: Values by column attribute (`buyer_id`); a field that is left out gets its default.
        then: What follows the values: an ON CONFLICT clause.
        given: Its parameters.
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

"""Database helpers beyond the ORM: rows by ids of requests, violated constraints, plain inserts, subquery sums, time limits, connections."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, IntegrityError, connection, connections, models
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.module_loading import import_string

from .ids import parse_id

M = TypeVar("M", bound=models.Model)


def row_by_id(queryset: models.QuerySet[M], text: str) -> M | None:
    """Return the row with an id that a client sent; None if there is no such row, or the text is not an id."""
    key = parse_id(text)
    return None if key is None else queryset.filter(pk=key).first()


def violates(error: IntegrityError, model: type[models.Model], name: str) -> bool:
    """Tell whether the model's constraint of this name caused `error`.

    PostgreSQL reports the constraint's name; SQLite reports the name of a check constraint, but the columns of a unique one.
    """
    diagnosis = getattr(error.__cause__, "diag", None)
    if diagnosis is not None:
        return bool(diagnosis.constraint_name == name)
    constraint = next(each for each in model._meta.constraints if each.name == name)
    if isinstance(constraint, models.UniqueConstraint):
        columns = (cast("models.Field[Any, Any]", model._meta.get_field(field)).column for field in constraint.fields)
        return str(error) == "UNIQUE constraint failed: " + ", ".join(f"{model._meta.db_table}.{column}" for column in columns)
    return str(error) == f"CHECK constraint failed: {name}"


def subquery_sum(rows: "models.QuerySet[Any]", amount: str | Combinable, *, by: str) -> Coalesce:
    """Return the sum of an amount over the rows of a subquery, which share one value of `by`, as an expression; 0 if there are none."""
    return Coalesce(models.Subquery(rows.order_by().values(by).annotate(total=models.Sum(amount)).values("total")), 0)


def insert_rows(model: type[models.Model], *rows: Mapping[str, Any], suffix: str = "", params: Sequence[Any] = ()) -> int:
    """Insert rows in one statement and return their number.

    Args:
        model: The model; its signals and `save` are not called.
        *rows: Values by attribute name (`buyer_id`); missing fields get their default, and the database numbers rows with an automatic id.
        suffix: SQL that follows the values, such as an ON CONFLICT clause.
        params: Parameters of `suffix`.
    """
    fields = _fields(model)
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    marks = ", ".join([f"({', '.join(['%s'] * len(fields))})"] * len(rows))
    values = [field.get_db_prep_save(_value(field, row), connection) for row in rows for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {model._meta.db_table} ({columns}) VALUES {marks} {suffix}", [*values, *params])  # noqa: S608 - names and our own SQL
        written: int = cursor.rowcount
    return written


@cache
def _fields(model: type[models.Model]) -> "tuple[models.Field[Any, Any], ...]":
    return tuple(field for field in model._meta.concrete_fields if not field.generated and not isinstance(field, models.AutoField))


def _value(field: "models.Field[Any, Any]", row: Mapping[str, Any]) -> Any:
    if field.attname in row:
        return row[field.attname]
    return timezone.now() if getattr(field, "auto_now_add", False) else field.get_default()


def release_connection() -> None:
    """Close this thread's database connection outside of a transaction, before it waits for a client."""
    if not connection.in_atomic_block:
        connection.close()


_CANCELLED = "57014"


def limit_statements() -> None:
    """Apply `settings.STATEMENT_TIMEOUT_SECONDS` to connections that the threads of this process open from now on.

    PostgreSQL cancels longer statements; if the server hangs, the connection is closed soon after.
    """
    if settings.STATEMENT_TIMEOUT_SECONDS and connection.vendor == "postgresql":
        options = connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]
        options["options"] += _timeout_option()
        if "pool" in options:
            # Imported by name, so that psycopg is not loaded on SQLite.
            options["pool"]["connection_class"] = import_string("marketplace.settings.clients.LimitedConnection")


def remove_statement_limit() -> None:
    """Give the calling thread a connection without the limit and outside of the pool, for jobs in a web process."""
    options = connection.settings_dict["OPTIONS"]
    if not settings.STATEMENT_TIMEOUT_SECONDS or _timeout_option() not in options.get("options", ""):
        return
    connection.close()
    own = {name: value for name, value in options.items() if name != "pool"}
    own["options"] = own["options"].replace(_timeout_option(), "")
    connection.settings_dict = connection.settings_dict | {"OPTIONS": own, "CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}


def was_cancelled(error: Exception) -> bool:
    """Tell whether PostgreSQL cancelled the statement."""
    return isinstance(error, DatabaseError) and getattr(error.__cause__, "sqlstate", None) == _CANCELLED


def _timeout_option() -> str:
    return f" -c statement_timeout={settings.STATEMENT_TIMEOUT_SECONDS}s"

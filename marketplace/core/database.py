"""What Django's ORM leaves out: names of violated constraints, lean inserts, connections of waiting threads, time limits."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, connections, models
from django.utils import timezone
from django.utils.module_loading import import_string


def violates(error: IntegrityError, model: type[models.Model], constraint: str) -> bool:
    """Tell whether `error` came from the model's constraint of this name.

    PostgreSQL names the constraint; SQLite names a check by its name and a unique one by its columns.
    """
    diagnosis = getattr(error.__cause__, "diag", None)
    if diagnosis is not None:
        return bool(diagnosis.constraint_name == constraint)
    rule = next(rule for rule in model._meta.constraints if rule.name == constraint)
    if isinstance(rule, models.UniqueConstraint):
        columns = (cast("models.Field[Any, Any]", model._meta.get_field(field)).column for field in rule.fields)
        return str(error) == "UNIQUE constraint failed: " + ", ".join(f"{model._meta.db_table}.{column}" for column in columns)
    return str(error) == f"CHECK constraint failed: {constraint}"


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


def release_connections() -> None:
    """Close this thread's database connections that are in no transaction, before it waits for a client."""
    for each in connections.all(initialized_only=True):
        if not each.in_atomic_block:
            each.close()


_CANCELLED = "57014"


def limit_statements() -> None:
    """Limit statements to the setting, on connections that this process opens from now on.

    PostgreSQL cancels what takes longer; where it hangs, the connection is closed soon after.
    """
    for alias in connections:
        database = connections.settings[alias]
        if settings.STATEMENT_TIMEOUT_SECONDS and database["ENGINE"] == "django.db.backends.postgresql":
            database["OPTIONS"]["options"] += _limit()
            if "pool" in database["OPTIONS"]:
                # By name: a service on SQLite does not load psycopg.
                database["OPTIONS"]["pool"]["connection_class"] = import_string("marketplace.settings.postgres_client.LimitedConnection")


def lift_limit() -> None:
    """Give the calling thread connections without the limit, outside of the pool: for jobs that run in a web process."""
    for alias in connections:
        connection = connections[alias]
        options = connection.settings_dict["OPTIONS"]
        if not settings.STATEMENT_TIMEOUT_SECONDS or _limit() not in options.get("options", ""):
            continue
        connection.close()
        own = {name: value for name, value in options.items() if name != "pool"}
        own["options"] = own["options"].replace(_limit(), "")
        connection.settings_dict = connection.settings_dict | {"OPTIONS": own, "CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}


def was_cancelled(error: Exception) -> bool:
    """Tell whether PostgreSQL cancelled the statement."""
    return isinstance(error, DatabaseError) and getattr(error.__cause__, "sqlstate", None) == _CANCELLED


def _limit() -> str:
    return f" -c statement_timeout={settings.STATEMENT_TIMEOUT_SECONDS}s"

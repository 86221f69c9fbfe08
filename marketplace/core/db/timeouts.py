"""The time limit for statements of web processes on PostgreSQL. Commands, migrations and jobs have none."""

from django.conf import settings
from django.db import DatabaseError, connections
from django.utils.module_loading import import_string

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
                database["OPTIONS"]["pool"]["connection_class"] = import_string("marketplace.core.db.limited.LimitedConnection")


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

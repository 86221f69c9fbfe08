"""Keeps a sandbox and a marketplace from using each other's database."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection

from .models import Installation

_MARKETPLACE_HINT = "Unset SANDBOX, or set DATABASE_URL to a database of the sandbox's own."
_SANDBOX_HINT = "Set SANDBOX, or set DATABASE_URL to the marketplace's database."


def record_installation(**_kwargs: Any) -> None:
    """Record after the first migration whether the database is a sandbox's (a receiver of `post_migrate`)."""
    if _has_table():
        Installation.objects.get_or_create(pk=1, defaults={"sandbox": settings.SANDBOX})


@register(Tags.database)
def database_is_of_this_installation(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Return an error where a sandbox is about to use the database of a marketplace, or the other way round."""
    found = Installation.objects.first() if databases and _has_table() else None
    if found is None or found.sandbox == settings.SANDBOX:
        return []
    if settings.SANDBOX:
        return [Error("SANDBOX is on, and the database is that of a real marketplace.", hint=_MARKETPLACE_HINT, id="operations.E001")]
    return [Error("SANDBOX is off, and the database is that of a sandbox.", hint=_SANDBOX_HINT, id="operations.E001")]


def refuse_other_database() -> None:
    """Keep a server from starting with the database of another kind of installation.

    Raises:
        ImproperlyConfigured: the database is that of a sandbox and the server is not, or the other way round.
    """
    if not settings.CHECK_DATABASE_AT_START:
        return
    try:
        found = database_is_of_this_installation([DEFAULT_DB_ALIAS])
    except DatabaseError:
        # A server starts without its database, and waits for it.
        return
    for error in found:
        raise ImproperlyConfigured(f"{error.msg} {error.hint}")


def _has_table() -> bool:
    return Installation._meta.db_table in connection.introspection.table_names()

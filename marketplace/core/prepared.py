"""Statements that PostgreSQL plans once for a connection: planning takes longer than running what answers with few rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper


@contextmanager
def prepared_cursor(connection: BaseDatabaseWrapper) -> Iterator[Any]:
    """Yield Django's cursor, which sends parameters beside the statement; a statement that is often the same is prepared.

    Django's own cursors write parameters into the statement, so that no two are the same.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.cursor = psycopg.Cursor(connection.connection)
        yield cursor

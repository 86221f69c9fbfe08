"""Server-side prepared statements on PostgreSQL: planning a statement that returns few rows takes longer than running it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper


@contextmanager
def prepared_cursor(connection: BaseDatabaseWrapper) -> Iterator[Any]:
    """Yield a cursor with server-side parameter binding, so that psycopg prepares a statement that is executed often.

    Django's default cursors bind parameters on the client: they write them into the statement, so that no two statements are the same.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.cursor = psycopg.Cursor(connection.connection)
        yield cursor

"""Puts the database back after a transactional test, to what the migrations left there.

Django's flush does it too, in twenty times as long: it makes every permission and every trigger anew. It also could not empty the
ledger and the audit log, which their triggers refuse to everyone.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import TransactionTestCase

from marketplace.core.triggers import TRIGGER_SETS

from .servers import migrated

WAIT_SECONDS = 60


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Look at the database before the first test, and go back to that after each that commits."""
    with django_db_blocker.unblock():
        put_back = _by_file() if connection.vendor == "sqlite" else _by_rows()
    patch = pytest.MonkeyPatch()
    patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _case: put_back())
    yield
    patch.undo()


def _by_file() -> Callable[[], None]:
    """Return what writes the whole file anew, with its tables and triggers."""

    def put_back() -> None:
        until = time.monotonic() + WAIT_SECONDS

        def watch(*_counts: int) -> None:
            assert time.monotonic() < until, "a test left a transaction open"

        with closing(sqlite3.connect(connection.settings_dict["NAME"])) as target:
            target.execute("PRAGMA synchronous=OFF")
            migrated.copy_into(target, watch)

    return put_back


def _by_rows() -> Callable[[], None]:
    """Return what empties the tables that have rows, and writes those rows that were there before all tests."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()")
        tables = [name for (name,) in cursor.fetchall()]
        rows = {}
        for columns in [_columns(cursor, table) for table in _filled(cursor, tables)]:
            with cursor.copy(f"COPY {columns} TO STDOUT") as copy:
                rows[columns] = b"".join(copy)

    def put_back() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            # Neither triggers nor references stand in the way.
            cursor.execute("SET LOCAL session_replication_role = replica")
            for table in _filled(cursor, tables):
                cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - a table of ours
            for columns, content in rows.items():
                with cursor.copy(f"COPY {columns} FROM STDIN") as copy:
                    copy.write(content)
        for triggers in TRIGGER_SETS:
            if triggers.missing(connection):
                triggers.install(connection)

    return put_back


def _filled(cursor: Any, tables: list[str]) -> list[str]:
    looks = (f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in tables)  # noqa: S608 - tables of ours
    cursor.execute(" UNION ALL ".join(looks))
    return [name for (name,) in cursor.fetchall()]


def _columns(cursor: Any, table: str) -> str:
    """Return the table with its columns by name: a test may put them in another order."""
    cursor.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608 - a table of ours
    names = ", ".join(f'"{column.name}"' for column in cursor.description)
    return f"{table} ({names})"

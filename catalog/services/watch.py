"""SQLite: detects without a query whether anything was committed since the generation was last read.

`PRAGMA data_version` changes when another connection, of this process or another, has committed; the connection's own
changes are counted by `total_changes`. While both stand still, the row that was read last is what a query would return.
Outside of transactions only: what a transaction wrote and read could be rolled back.
"""

import sqlite3
import threading
from collections.abc import Callable

from django.db import connection


class _Seen(threading.local):
    """What this thread's connection showed when the generation was read."""

    connection: sqlite3.Connection | None = None
    marks: tuple[int, int] = (0, 0)
    generation: int = 0


_seen = _Seen()


def current(read: Callable[[], int]) -> int:
    """Return the generation, reading the row only when something was committed since this thread last did."""
    connection.ensure_connection()
    raw: sqlite3.Connection = connection.connection
    # The marks come first: a commit between them and the reading makes the next call read again.
    marks = (raw.execute("PRAGMA data_version").fetchone()[0], raw.total_changes)
    if _seen.connection is not raw or _seen.marks != marks:
        _seen.generation = read()
        _seen.connection, _seen.marks = raw, marks
    return _seen.generation

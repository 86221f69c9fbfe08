"""A database connection that is cut at a given statement."""

from collections.abc import Callable
from typing import Any

from django.db import connection

Deed = Callable[[], Any]


class Cut(Exception):
    """The line is dead."""


class Wire:
    """Lets a number of statements through, then is cut.

    Args:
        last: How many it lets through.
        executed: Whether the statement at which it is cut still runs.
    """

    def __init__(self, last: int, *, executed: bool) -> None:
        self.last, self.executed, self.sent = last, executed, 0

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: Any, context: Any) -> Any:
        """Send a statement, or be cut."""
        if sql.startswith("BEGIN"):
            # SQLite's goes this way, PostgreSQL's does not; nothing can be half done at it.
            return execute(sql, params, many, context)
        if self.sent == self.last:
            if self.executed:
                execute(sql, params, many, context)
            raise Cut(sql)
        self.sent += 1
        return execute(sql, params, many, context)


def cut_off(deed: Deed, last: int, *, executed: bool) -> bool:
    """Return whether the deed was cut off after this many statements; if it was shorter, it is done."""
    with connection.execute_wrapper(Wire(last, executed=executed)):
        try:
            deed()
        except Cut:
            return True
    return False

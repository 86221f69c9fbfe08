"""A database connection that is cut at a given statement, and the checks of an operation in one transaction afterwards."""

from collections.abc import Callable
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError, connection

from tests.contract.calls import rows
from wallet.reconciliation import differences

Deed = Callable[[], Any]


class Cut(Exception):
    """The connection is closed."""


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


def check_every_cut(deed: Deed) -> None:
    """Cut the deed off before and after each of its statements: nothing is half done, and the same call succeeds afterwards."""
    before = rows()
    for statements in count():
        if not cut_off(deed, statements, executed=False):
            break
        assert rows() == before
        assert cut_off(deed, statements, executed=True)
        assert rows() == before
    assert statements > 3
    assert rows() != before
    assert list(differences()) == []


def check_failed_commit(deed: Deed) -> None:
    """Let the commit fail: nothing is half done, and the same call succeeds afterwards."""
    before = rows()
    with patch.object(connection, "_commit", side_effect=OperationalError("gone")), pytest.raises(OperationalError):
        deed()
    assert rows() == before
    deed()
    assert rows() != before
    assert list(differences()) == []

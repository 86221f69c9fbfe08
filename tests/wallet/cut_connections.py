"""A database connection that is cut at a given statement, and the checks of an operation in one transaction afterwards."""

from collections.abc import Callable
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
    """Lets a number of statements through, then is cut."""

    def __init__(self, last: int) -> None:
        self.left = last

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: Any, context: Any) -> Any:
        # SQLite's BEGIN goes this way, PostgreSQL's does not; nothing can be half done at it.
        if not sql.startswith("BEGIN"):
            if not self.left:
                raise Cut(sql)
            self.left -= 1
        return execute(sql, params, many, context)


def cut_off(deed: Deed, last: int) -> bool:
    """Return whether the deed was cut off after this many statements; if it was shorter, it is done."""
    with connection.execute_wrapper(Wire(last)):
        try:
            deed()
        except Cut:
            return True
    return False


def check_every_cut(deed: Deed) -> None:
    """Cut the deed off at each of its statements, and at its commit: nothing is half done, and the same call succeeds afterwards."""
    before, statements = rows(), 0
    with patch.object(connection, "_commit", side_effect=OperationalError("gone")), pytest.raises(OperationalError):
        deed()
    assert rows() == before
    while cut_off(deed, statements):
        assert rows() == before
        statements += 1
    assert statements > 3
    assert rows() != before
    assert list(differences()) == []

"""Lets transactional tests empty the ledger between them, which its own triggers refuse to everyone else."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.test import TransactionTestCase

from wallet.guards import install_guards, ready_for_guards, remove_guards


@pytest.fixture(scope="session", autouse=True)
def ledger_is_emptied_between_tests() -> Iterator[None]:
    """Lift the triggers while Django flushes the tables, and only then."""
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # the one place where Django flushes

    def lifted(case: TransactionTestCase) -> None:
        guarded = [connections[name] for name in case._databases_names(include_mirrors=False)]  # type: ignore[attr-defined]  # as the flush does
        guarded = [connection for connection in guarded if ready_for_guards(connection)]
        for connection in guarded:
            remove_guards(connection)
        try:
            flush(case)
        finally:
            for connection in guarded:
                install_guards(connection)

    patch = pytest.MonkeyPatch()
    patch.setattr(TransactionTestCase, "_fixture_teardown", lifted)
    yield
    patch.undo()

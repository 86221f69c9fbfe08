"""Puts the database back after a transactional test: empties the ledger and the audit log, which their triggers refuse to everyone else, and seeds anew."""

from collections.abc import Iterator
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connections
from django.test import TransactionTestCase

from marketplace.core.guards import every_guard

SEEDS = [import_module(f"catalog.migrations.{name}").seed for name in ("0002_seed", "0005_rejection_reasons")]


@pytest.fixture(scope="session", autouse=True)
def guarded_tables_are_emptied_between_tests() -> Iterator[None]:
    """Lift the triggers while Django flushes and seeds the tables, and only then."""
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # the one place where Django flushes

    def lifted(case: TransactionTestCase) -> None:
        guarded = [connections[name] for name in case._databases_names(include_mirrors=False)]  # type: ignore[attr-defined]  # as the flush does
        lift = [(guards, connection) for connection in guarded for guards in every_guard() if guards.ready(connection)]
        for guards, connection in lift:
            guards.remove(connection)
        try:
            flush(case)
            # Categories, licence tiers and reasons come with the migrations; whatever test follows finds them.
            for seed in SEEDS:
                seed(apps, None)
        finally:
            for guards, connection in lift:
                guards.install(connection)

    patch = pytest.MonkeyPatch()
    patch.setattr(TransactionTestCase, "_fixture_teardown", lifted)
    yield
    patch.undo()

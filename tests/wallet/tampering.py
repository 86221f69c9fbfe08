"""Changes of the ledger by the owner of the database, who can drop triggers."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from wallet.triggers import LEDGER_TRIGGERS


@contextmanager
def unguarded() -> Iterator[None]:
    """Lift the ledger's triggers for a while."""
    connection.check_constraints()
    LEDGER_TRIGGERS.remove(connection)
    try:
        yield
    finally:
        LEDGER_TRIGGERS.install(connection)

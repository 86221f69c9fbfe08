"""Start-up checks of the ledger."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import connections

from .guards import missing_guards, ready_for_guards


def ledger_is_guarded(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Return an error for each trigger of the ledger that is not there."""
    return [
        Error(
            f"The trigger {name} is missing from database {alias}: the ledger could be changed.",
            hint="Run `manage.py migrate --skip-checks`, which makes it again, then find out who dropped it.",
            id="wallet.E001",
        )
        for alias in databases or ()
        if ready_for_guards(connections[alias])
        for name in missing_guards(connections[alias])
    ]

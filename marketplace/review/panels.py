"""Tables on the pages of rows in the admin."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet

from marketplace.core import audit
from marketplace.core.models import AuditEntry

from .subjects import action_label, outcome

HISTORY_ROWS = 20


@dataclass(frozen=True)
class Panel:
    """A table on a row's page."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    empty: str = "None."

    @property
    def lines(self) -> list[list[tuple[str, Any]]]:
        """The rows, each cell with its column head, which is shown beside it on a phone."""
        return [list(zip(self.columns, row, strict=True)) for row in self.rows]


def history(subject: Model) -> QuerySet[AuditEntry]:
    """Return the newest audit entries about a row."""
    return audit.history_of(subject)[:HISTORY_ROWS]


def history_panel(entries: Iterable[AuditEntry]) -> Panel:
    """Return the table of a row's history."""
    rows = [(f"{e.at:%Y-%m-%d %H:%M}", e.actor or "the service", action_label(e.action), outcome(e), e.reason) for e in entries]
    return Panel("History", ("At (UTC)", "Who", "What", "State", "Reason"), rows)

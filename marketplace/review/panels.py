"""Tables on the pages of rows in the admin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

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


def history_panel(entries: QuerySet[AuditEntry]) -> Panel:
    """Return the table of a row's history, the newest entries."""
    newest = entries[:HISTORY_ROWS]
    rows = [(f"{e.at:%Y-%m-%d %H:%M}", e.actor or "the service", action_label(e.action), outcome(e), e.reason) for e in newest]
    return Panel("History", ("At (UTC)", "Who", "What", "State", "Reason"), rows)

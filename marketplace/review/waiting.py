"""How long a row of a review queue will wait: its position, and how long the last decisions took."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from statistics import median
from typing import Any

from django.db.models import Model, Q, QuerySet

from marketplace.core.models import AuditEntry

# The number of decisions whose median waiting time is shown.
DECISIONS = 20
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Wait:
    """The position of a row in its queue, from 1, and the median time of the last decisions, None before the first one."""

    position: int
    usual: timedelta | None

    @property
    def usual_hours(self) -> int | None:
        """The usual time in hours, rounded up."""
        return None if self.usual is None else _hours(self.usual)

    @property
    def usual_text(self) -> str:
        """The usual time as text, such as `2 days`."""
        return duration_text(self.usual)


def wait_of(row: Model, *, since: str = "submitted_at", waiting: Mapping[str, Any], decided: QuerySet[Any] | None = None) -> Wait | None:
    """Return how long a row will wait, None if it does not wait.

    Args:
        row: The row.
        since: The field with the time since which rows wait.
        waiting: The values of the fields of rows that wait.
        decided: The rows that the usual time is taken from; by default those that somebody has decided.
    """
    if any(getattr(row, name) != value for name, value in waiting.items()):
        return None
    rows, start = type(row)._default_manager.all(), getattr(row, since)
    ahead = Q(**{f"{since}__lt": start}) | Q(**{since: start}, pk__lt=row.pk)
    position = rows.filter(ahead, **waiting).count() + 1
    if decided is not None:
        return Wait(position, usual_waiting_time(decided, since=since))
    return Wait(position, usual_waiting_time(rows.filter(decided_by__isnull=False), since=since, status=waiting["status"]))


def usual_waiting_time(decided: QuerySet[Any], *, since: str = "submitted_at", status: str = "") -> timedelta | None:
    """Return the median time of the last of these decisions, None before the first one.

    Where rows may be decided on again later, as by a suspension, `status` is the one in which they wait: the audit log tells when they left it.
    """
    last = decided.filter(decided_at__isnull=False).order_by("-decided_at").values_list("pk", since, "decided_at")[:DECISIONS]
    rows = [(str(pk), begin, end) for pk, begin, end in last]
    ends = {pk: end for pk, _, end in rows}
    if status and rows:
        entries = AuditEntry.objects.filter(subject_type=decided.model._meta.label_lower, subject_id__in=ends, from_state=status)
        ends = dict(entries.order_by("id").values_list("subject_id", "at"))
    times = [ends[pk] - begin for pk, begin, _ in rows if pk in ends]
    return median(times) if times else None


def duration_text(time: timedelta | None) -> str:
    """Return a duration in whole hours or, from a day on, whole days, rounded up: `2 days` for 47 hours; empty for None."""
    if time is None:
        return ""
    hours = _hours(time)
    count, unit = (hours, "hour") if hours < 24 else (ceil(hours / 24), "day")
    return f"{count}\N{NO-BREAK SPACE}{unit}{'' if count == 1 else 's'}"


def _hours(time: timedelta) -> int:
    return max(1, ceil(time / HOUR))

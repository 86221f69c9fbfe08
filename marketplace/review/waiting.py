"""How long decisions of a review queue usually take."""

from datetime import UTC, datetime, timedelta
from math import ceil
from statistics import median
from typing import Any

from django.db.models import QuerySet
from django.utils.timesince import timesince

# The number of decisions that the usual time is taken from.
DECISIONS = 20
HOUR = timedelta(hours=1)
_ZERO = datetime(2000, 1, 1, tzinfo=UTC)


def usual_waiting_time(rows: QuerySet[Any], *, since: str = "submitted_at") -> str:
    """Return the median time of the last decisions that somebody has made, in words such as `2 days`; empty before the first one.

    Args:
        rows: The rows of the queue, decided or not.
        since: The field with the time since which rows wait.
    """
    decided = rows.filter(decided_by__isnull=False, decided_at__isnull=False).order_by("-decided_at")
    times = [end - begin for begin, end in decided.values_list(since, "decided_at")[:DECISIONS]]
    hours = max(1, ceil(median(times) / HOUR)) if times else 0
    return timesince(_ZERO, _ZERO + hours * HOUR, depth=1) if times else ""

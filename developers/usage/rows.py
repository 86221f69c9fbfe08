"""Adds counters to the rows of usage, by day and by hour."""

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Model

from marketplace.core.database import insert_rows

from ..models import ApiUsage, App, HourlyUsage
from ..models.usage import KEPT_HOURS

_BATCH = 500


class CallKey(NamedTuple):
    """The key of a counter: calls that agree in all of these are one row."""

    day: dt.date
    kind: str
    app_id: uuid.UUID | None
    credential_id: uuid.UUID
    operation: str
    scope: str
    status: int
    # The hour of the day (UTC).
    hour: int


def add_to_rows(counts: Mapping[CallKey, int]) -> None:
    """Add the counters to their rows, in one transaction; those of deleted apps are dropped."""
    wanted = {call.app_id for call in counts if call.app_id}
    with transaction.atomic():
        known = set(App.objects.filter(pk__in=wanted).values_list("pk", flat=True))
        days: Counter[CallKey] = Counter()
        hours: Counter[CallKey] = Counter()
        oldest_kept = dt.datetime.now(tz=dt.UTC).date() - dt.timedelta(hours=KEPT_HOURS)
        for call, calls in counts.items():
            if call.app_id is not None and call.app_id not in known:
                continue
            days[call._replace(hour=0)] += calls
            if call.day >= oldest_kept:
                hours[call._replace(scope="")] += calls
        _add(ApiUsage, "day", [call._asdict() | {"calls": calls} for call, calls in days.items()])
        moments = {call: dt.datetime.combine(call.day, dt.time(call.hour), dt.UTC) for call in hours}
        _add(HourlyUsage, "hour", [call._asdict() | {"hour": moments[call], "calls": calls} for call, calls in hours.items()])


def _add(model: type[Model], period: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert the rows or add to existing ones, which Django's own upsert can only overwrite."""
    unique = (period, "kind", "credential_id", "operation", "status")
    # All processes lock rows in the same order, which avoids deadlocks.
    ordered = sorted(rows, key=lambda row: [str(row[name]) for name in unique])
    add = f"ON CONFLICT ({', '.join(unique)}) DO UPDATE SET calls = {model._meta.db_table}.calls + excluded.calls"
    for start in range(0, len(ordered), _BATCH):
        insert_rows(model, *ordered[start : start + _BATCH], suffix=add)

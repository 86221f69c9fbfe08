"""Adds counters to the rows of usage, by day and by hour."""

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Model

from ..models import ApiUsage, App, HourlyUsage
from ..models.usage import KEPT_HOURS

_BATCH = 500
_DIMENSIONS = ("kind", "credential_id", "operation", "status")


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
        _add(
            ApiUsage,
            ("day", *_DIMENSIONS),
            ({**_dimensions_of(call), "day": call.day, "scope": call.scope, "calls": n} for call, n in days.items()),
        )
        _add(HourlyUsage, ("hour", *_DIMENSIONS), ({**_dimensions_of(call), "hour": _hour(call), "calls": n} for call, n in hours.items()))


def _dimensions_of(call: CallKey) -> dict[str, Any]:
    return {name: getattr(call, name) for name in ("app_id", *_DIMENSIONS)}


def _hour(call: CallKey) -> dt.datetime:
    return dt.datetime.combine(call.day, dt.time(call.hour), dt.UTC)


def _add(model: type[Model], unique: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    # All processes lock rows in the same order, which avoids deadlocks.
    ordered = sorted(rows, key=lambda row: [str(row[name]) for name in unique])
    for start in range(0, len(ordered), _BATCH):
        _upsert(model, unique, ordered[start : start + _BATCH])


def _upsert(model: type[Model], unique: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows or add to existing ones, which Django's own upsert can only overwrite. Both databases know this statement."""
    meta, quote = model._meta, connection.ops.quote_name
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    table, calls = quote(meta.db_table), quote("calls")
    columns = ", ".join(quote(field.attname) for field in fields)
    placeholders = f"({', '.join(['%s'] * len(fields))})"
    values = [field.get_db_prep_save(row[field.attname], connection) for row in rows for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({columns}) VALUES {', '.join([placeholders] * len(rows))} "  # noqa: S608 - names of our own columns
            f"ON CONFLICT ({', '.join(map(quote, unique))}) DO UPDATE SET {calls} = {table}.{calls} + excluded.{calls}",
            values,
        )

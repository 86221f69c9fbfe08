"""Adds counters to the rows of `ApiUsage`, and removes old rows."""

import calendar
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction

from ..models import ApiUsage, App
from .calls import Call

KEPT_MONTHS = 13
_BATCH = 500
_UNIQUE = ("day", "kind", "credential_id", "operation", "status")


def add_to_rows(counts: Mapping[Call, int]) -> None:
    """Add the counters to their rows, in one transaction; those of apps that are gone are dropped."""
    wanted = {call.app_id for call in counts if call.app_id}
    with transaction.atomic():
        known = set(App.objects.filter(pk__in=wanted).values_list("pk", flat=True))
        # In one order for all processes: they lock rows one after the other, never crosswise.
        rows = sorted(
            ((call, calls) for call, calls in counts.items() if call.app_id is None or call.app_id in known),
            key=lambda row: (row[0].day, row[0].kind, str(row[0].credential_id), row[0].operation, row[0].status),
        )
        for start in range(0, len(rows), _BATCH):
            _upsert([call._asdict() | {"calls": calls} for call, calls in rows[start : start + _BATCH]])


def _upsert(rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows or add to those there are: Django's own upsert can only overwrite. Both engines know this statement."""
    meta, quote = ApiUsage._meta, connection.ops.quote_name
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    table, calls = quote(meta.db_table), quote("calls")
    columns = ", ".join(quote(field.attname) for field in fields)
    one = f"({', '.join(['%s'] * len(fields))})"
    unique = ", ".join(map(quote, _UNIQUE))
    values = [field.get_db_prep_save(row[field.attname], connection) for row in rows for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({columns}) VALUES {', '.join([one] * len(rows))} "  # noqa: S608 - names of our own columns
            f"ON CONFLICT ({unique}) DO UPDATE SET {calls} = {table}.{calls} + excluded.{calls}",
            values,
        )


def oldest_kept(today: dt.date) -> dt.date:
    """Return the first day whose rows are kept: 13 months ago, so that a month can be compared with the year before."""
    months = today.year * 12 + today.month - 1 - KEPT_MONTHS
    year, month = divmod(months, 12)
    return dt.date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))


def count_old_rows(first: dt.date) -> int:
    """Return how many rows are of days before this one."""
    return ApiUsage.objects.filter(day__lt=first).count()


def remove_old_rows(first: dt.date) -> int:
    """Remove the rows of days before this one, a day at a time, so that flushes need not wait long; return how many."""
    removed = 0
    for day in ApiUsage.objects.filter(day__lt=first).order_by("day").values_list("day", flat=True).distinct():
        removed += ApiUsage.objects.filter(day=day).delete()[0]
    return removed

"""Rows that wait for a decision."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Case, IntegerField, Value, When
from django.http import HttpRequest
from django.utils import timezone
from django.utils.timesince import timesince

from .service import ServiceAdmin


class QueueAdmin(ServiceAdmin):
    """Rows that wait for a decision: those that wait come first, the oldest of them on top."""

    # Field with the time since when a row waits, and how to find those that do.
    waiting_since = "submitted_at"
    waiting: Mapping[str, Any] = {}

    def get_ordering(self, request: HttpRequest) -> Any:
        """Order those that wait before the others, the oldest first."""
        waits = Case(When(**self.waiting, then=Value(0)), default=Value(1), output_field=IntegerField())
        return (waits.asc(), self.waiting_since)

    @admin.display(description="Waiting")
    def waiting_time(self, row: Any) -> str:
        """Return for how long the row waits, `-` when it does not."""
        if any(getattr(row, name) != value for name, value in self.waiting.items()):
            return "-"
        return timesince(getattr(row, self.waiting_since), timezone.now(), depth=1)

"""The admin's first page: queues, charts and recent decisions."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from marketplace.core.models import AuditEntry
from marketplace.review.service import staff_of
from marketplace.review.subjects import add_subjects

from .charts import charts_for
from .queues import queue_counts

RECENT = 10
# Decisions are searched among this many of the newest entries, most of which are not by staff.
SEARCHED = 500


def home(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the first page, as far as its user may see it."""
    viewer = staff_of(request)
    cards = [each for each in queue_counts(request) if viewer.has_perm(each.queue.permission)]
    # Queues in which something waits come first.
    cards.sort(key=lambda each: not each.count)
    recent = _recent() if viewer.has_perm("core.view_auditentry") else None
    add_subjects(recent or [], admin.site, request)
    now = timezone.now()
    return {"cards": cards, "charts": charts_for(viewer, now), "recent": recent, "title": "Review queues"}


def _recent() -> list[AuditEntry]:
    newest = AuditEntry.objects.order_by("-id").values("pk")[:SEARCHED]
    # One of the states may be empty: a listing without an update has no update status.
    decided = AuditEntry.objects.filter(pk__in=newest, actor__is_staff=True).exclude(from_state="", to_state="")
    return list(decided.select_related("actor").order_by("-at", "-id")[:RECENT])

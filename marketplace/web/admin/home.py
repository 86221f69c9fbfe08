"""The admin's first page: queues, the last thirty days, what was decided last."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from marketplace.core.models import AuditEntry
from marketplace.review.service import staff_of

from .figures import charts_for
from .queues import tallies

RECENT = 10
# Decisions are looked for among so many of the newest entries: most are of people who buy and build.
AMONG = 500


def home(request: HttpRequest) -> dict[str, Any]:
    """Return what the first page shows: what its user may see."""
    viewer = staff_of(request)
    cards = [tally for tally in tallies(request) if viewer.has_perm(tally.queue.permission)]
    recent = _recent() if viewer.has_perm("core.view_auditentry") else None
    now = timezone.now()
    return {"cards": cards, "charts": charts_for(viewer, now), "recent": recent, "title": "Review queues"}


def _recent() -> list[AuditEntry]:
    newest = AuditEntry.objects.order_by("-id").values("pk")[:AMONG]
    decided = AuditEntry.objects.filter(pk__in=newest, actor__is_staff=True).exclude(to_state="")
    return list(decided.select_related("actor").order_by("-id")[:RECENT])

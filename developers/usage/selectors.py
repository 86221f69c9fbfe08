"""Reads of usage: by day, by operation, by key; and which keys are dormant."""

import datetime as dt
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from marketplace.core.scopes import Scope
from marketplace.ui.charts import Period, Span, Step
from marketplace.ui.charts.periods import floor

from ..models import AccessToken, ApiKey, ApiUsage, App, AppScope, HourlyUsage
from ..models.usage import CallerKind

DAY = Span("24h", "24 hours", Step.HOUR, 24)
WEEK = Span("7d", "7 days", Step.DAY, 7)
MONTH = Span("30d", "30 days", Step.DAY, 30)
SPANS = {span.key: span for span in (DAY, WEEK, MONTH)}
SHOWN_REFUSALS = 20
IDLE = timedelta(days=90)
# The callers that are counted under their app.
_SHORT_LIVED_TOKENS = {
    CallerKind.OAUTH.value: "OAuth tokens",
    CallerKind.MCP.value: "MCP tokens",
    CallerKind.CONSOLE.value: "Developer console",
}


@dataclass
class CallCounts:
    """Calls by outcome: done, refused (4xx), over the limit (429), failed (5xx)."""

    done: int = 0
    refused: int = 0
    limited: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """The sum."""
        return self.done + self.refused + self.limited + self.failed

    def add(self, status: int, calls: int) -> None:
        """Add calls that ended with this status."""
        if status >= 500:
            self.failed += calls
        elif status == HTTPStatus.TOO_MANY_REQUESTS:
            self.limited += calls
        elif status >= 400:
            self.refused += calls
        else:
            self.done += calls


@dataclass(frozen=True)
class Refusal:
    """Calls of one operation that ended with the same error status; a tool call has the status that the API would have."""

    operation: str
    status: int
    calls: int

    @property
    def outcome(self) -> str:
        """The status with its phrase."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)


@dataclass
class Usage:
    """The calls of an app, a key or tokens in a period."""

    span: Span
    period: Period
    points: dict[dt.datetime, CallCounts]
    total: CallCounts = field(default_factory=CallCounts)
    operations: dict[str, CallCounts] = field(default_factory=lambda: defaultdict(CallCounts))
    callers: dict[str, CallCounts] = field(default_factory=lambda: defaultdict(CallCounts))
    refusals: list[Refusal] = field(default_factory=list)


def usage_of_app(app: App, credentials: Iterable[ApiKey | AccessToken], *, span: Span = MONTH) -> Usage:
    """Return the calls of the app, with the names of these keys and MCP tokens."""
    return _usage(Q(app=app), _names_of(credentials), span)


def usage_of_credentials(credentials: Iterable[ApiKey | AccessToken], *, span: Span = MONTH) -> Usage:
    """Return the calls of these keys, personal tokens or MCP tokens, which are counted by themselves."""
    names = _names_of(credentials)
    return _usage(Q(credential_id__in=names), names, span)


def _names_of(credentials: Iterable[ApiKey | AccessToken]) -> dict[uuid.UUID, str]:
    return {each.pk: f"{each.name} (…{each.hint})" for each in credentials}


def _usage(whose: Q, names: Mapping[uuid.UUID, str], span: Span) -> Usage:
    period = span.period(timezone.now())
    usage = Usage(span, period, {point: CallCounts() for point in period.points})
    refused: Counter[tuple[str, int]] = Counter()
    rows = _rows(whose, period)
    # Apart from the callers: an app with many keys has far fewer groups without them.
    for moment, operation, status, calls in rows.values_list("moment", "operation", "status").annotate(sum=Sum("calls")):
        for counts in (usage.total, usage.points[floor(moment, span.step)], usage.operations[operation]):
            counts.add(status, calls)
        if status >= 400:
            refused[operation, status] += calls
    for kind, credential_id, status, calls in rows.values_list("kind", "credential_id", "status").annotate(sum=Sum("calls")):
        usage.callers[names.get(credential_id) or _SHORT_LIVED_TOKENS.get(kind, "a key that is gone")].add(status, calls)
    most_frequent = sorted(refused.items(), key=lambda item: (-item[1], item[0]))[:SHOWN_REFUSALS]
    usage.refusals = [Refusal(operation, status, calls) for (operation, status), calls in most_frequent]
    usage.operations = _busiest_first(usage.operations)
    usage.callers = _busiest_first(usage.callers)
    return usage


def _rows(whose: Q, period: Period) -> QuerySet[Any, Any]:
    first, last = period.points[0], period.points[-1]
    if period.step == Step.HOUR:
        return HourlyUsage.objects.filter(whose, hour__range=(first, last)).annotate(moment=F("hour")).order_by()
    return ApiUsage.objects.filter(whose, day__range=(first.date(), last.date())).annotate(moment=F("day")).order_by()


def _busiest_first(groups: dict[str, CallCounts]) -> dict[str, CallCounts]:
    return dict(sorted(groups.items(), key=lambda item: (-item[1].total, item[0])))


def unused_scopes(app: App, rows: Iterable[AppScope]) -> list[Scope]:
    """Return the app's scopes that were granted more than 90 days ago, and that no successful call has required in the last 90 days.

    Those that only decide what a call returns, such as events or skills, are required by none.
    """
    since = timezone.now() - IDLE
    if app.created > since:
        return []
    used = ApiUsage.objects.filter(app=app, day__gte=since.date(), status__lt=400).exclude(scope="")
    young = {row.scope for row in rows if row.granted and row.decided_at is not None and row.decided_at > since}
    busy = {*used.order_by().values_list("scope", flat=True).distinct(), *young}
    return [scope for scope in Scope if scope in app.scopes and scope not in busy]


def dormant_keys() -> QuerySet[ApiKey]:
    """Return the active keys that have not been used for 90 days, since their creation if never used."""
    since = timezone.now() - IDLE
    unused = Q(last_used_at__lt=since) | Q(last_used_at=None, created_at__lt=since)
    return ApiKey.objects.active().filter(unused).select_related("app__user").order_by("id")


def is_dormant(key: ApiKey) -> bool:
    """Tell whether a loaded key is dormant."""
    return key.is_active and (key.last_used_at or key.created_at) < timezone.now() - IDLE

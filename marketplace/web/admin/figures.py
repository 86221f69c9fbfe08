"""The admin's charts of the last thirty days, read in one query that is cached for a minute."""

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from django.core.cache import cache
from django.db.models import BigIntegerField, Case, CharField, Count, DateTimeField, F, QuerySet, Sum, Value, When
from django.db.models.functions import Cast, TruncDay

from catalog.models import ListingReview
from catalog.models.reviews import ReviewStatus
from developers.models import ApiUsage
from marketplace.ui.charts import Chart, Period, Series, Step, Tone
from marketplace.ui.formatting import money
from wallet.selectors import orders_since

DAYS = 30
KEPT_SECONDS = 60
KEY = "admin-figures"
# Medians and outcomes are computed from this many of the newest decisions.
DECISIONS = 5_000
_TEXT = CharField()
_WAITING_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


@dataclass
class Figures:
    """The figures of a period.

    Args:
        counts: Counts by chart, row of the chart and day.
        sums: Amounts sold, by currency.
        waits: Median time that submissions waited for their decision, in seconds, by outcome.
    """

    counts: dict[str, dict[str, dict[dt.datetime | dt.date, int]]] = field(default_factory=dict)
    sums: dict[str, int] = field(default_factory=dict)
    waits: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A chart, and a sentence below it."""

    chart: Chart
    note: str = ""


def charts_for(viewer: Any, now: dt.datetime) -> list[Picture]:
    """Return the charts that the viewer may see."""
    wanted = [name for name, permission, _ in _CHARTS if viewer.has_perm(permission)]
    if not wanted:
        return []
    period = Period.last(DAYS, Step.DAY, until=now)
    figures = cache.get(KEY)
    if not isinstance(figures, Figures):
        figures = figures_since(period.start)
        cache.set(KEY, figures, KEPT_SECONDS)
    return [draw(figures, period) for name, _, draw in _CHARTS if name in wanted]


def figures_since(start: dt.datetime) -> Figures:
    """Return the figures from `start` on."""
    figures, waits = Figures(), defaultdict(list)
    counts: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    sums: dict[str, int] = defaultdict(int)
    for chart, at, label, count, amount, since in _reviews(start).union(_sales(start), _calls(start), all=True):
        counts[chart][label][at.replace(hour=0, minute=0, second=0, microsecond=0)] += count
        if chart == "sales":
            sums[label] += amount
        if since is not None:
            waits[label].append((at - since).total_seconds())
    figures.counts = {chart: {label: dict(days) for label, days in rows.items()} for chart, rows in counts.items()}
    figures.sums, figures.waits = dict(sums), {label: median(seconds) for label, seconds in waits.items()}
    return figures


def _reviews(start: dt.datetime) -> QuerySet[Any, Any]:
    decided = ListingReview.objects.filter(decided_at__gte=start, status__in=(ReviewStatus.APPROVED, ReviewStatus.REJECTED))
    newest = decided.order_by("-decided_at").values("pk")[:DECISIONS]
    rows = ListingReview.objects.filter(pk__in=newest).order_by()
    return _shaped(rows, "reviews", at=F("decided_at"), label=F("status"), count=Value(1), amount=Value(0), since=F("submitted_at"))


def _sales(start: dt.datetime) -> QuerySet[Any, Any]:
    rows = orders_since(start).order_by().annotate(day=TruncDay("created_at", tzinfo=dt.UTC)).values("day", "currency")
    sold = rows.annotate(orders=Count("pk"), total=Sum("price_minor"))
    return _shaped(sold, "sales", at=F("day"), label=F("currency"), count=F("orders"), amount=F("total"), since=None)


def _calls(start: dt.datetime) -> QuerySet[Any, Any]:
    outcome = Case(
        When(status__gte=500, then=Value("Failed")), When(status__gte=400, then=Value("Refused")), default=Value("Done"), output_field=_TEXT
    )
    rows = ApiUsage.objects.filter(day__gte=start.date()).order_by().annotate(outcome=outcome).values("day", "outcome")
    made = rows.annotate(made=Sum("calls"))
    return _shaped(made, "calls", at=Cast("day", DateTimeField()), label=F("outcome"), count=F("made"), amount=Value(0), since=None)


def _shaped(rows: QuerySet[Any, Any], chart: str, *, at: Any, label: Any, count: Any, amount: Any, since: Any) -> QuerySet[Any, Any]:
    """Return rows of one shape, so that a single statement reads all charts."""
    shape = {
        "figure_chart": Value(chart, output_field=_TEXT),
        "figure_at": at,
        "figure_label": Cast(label, _TEXT),
        "figure_count": Cast(count, BigIntegerField()),
        "figure_amount": Cast(amount, BigIntegerField()),
        "figure_since": Cast(Value(None), DateTimeField()) if since is None else since,
    }
    shaped: QuerySet[Any, Any] = rows.annotate(**shape).values_list(*shape)
    return shaped


def _draw_sales(figures: Figures, period: Period) -> Picture:
    rows = figures.counts.get("sales", {})
    tones: dict[str, Tone] = {"USD": "accent", "INR": "mark"}
    series = [Series(f"Sales in {code}", period.fill(rows.get(code, {})), tone) for code, tone in tones.items()]
    sold = " and ".join(money(amount, code) for code, amount in sorted(figures.sums.items()))
    return Picture(Chart("sales", "Sales", period, series, "No sales in 30 days."), f"Sold for {sold}." if sold else "")


def _draw_reviews(figures: Figures, period: Period) -> Picture:
    rows = figures.counts.get("reviews", {})
    tones: dict[str, Tone] = {"Approved": "good", "Rejected": "bad"}
    series = [Series(name, period.fill(rows.get(name, {})), tone) for name, tone in tones.items()]
    waited = ", ".join(f"{_span(seconds)} until {name.lower()}" for name, seconds in sorted(figures.waits.items()))
    note = f"Median wait: {waited}." if waited else ""
    return Picture(Chart("reviews", "Submissions decided", period, series, "No decisions in 30 days."), note)


def _draw_calls(figures: Figures, period: Period) -> Picture:
    rows = figures.counts.get("calls", {})
    tones: dict[str, Tone] = {"Done": "accent", "Refused": "wait", "Failed": "bad"}
    series = [Series(name, period.fill(rows.get(name, {})), tone) for name, tone in tones.items()]
    return Picture(Chart("calls", "API calls", period, series, "No calls in 30 days."))


def _span(seconds: float) -> str:
    for length, unit in _WAITING_UNITS:
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"


_CHARTS = (
    ("sales", "wallet.view_order", _draw_sales),
    ("reviews", "catalog.review_listing", _draw_reviews),
    ("calls", "developers.view_app", _draw_calls),
)

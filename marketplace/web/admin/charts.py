"""The admin's charts of the last thirty days, each cached for a minute."""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, cast

from django.core.cache import caches
from django.db.models import Case, Count, Sum, Value, When
from django.db.models.functions import TruncDay
from django.utils import timezone
from django.utils.timesince import timesince

from catalog.models import ListingReview
from catalog.models.reviews import ReviewStatus
from developers.models import ApiUsage
from marketplace.core.ids import first_id_at
from marketplace.ui.charts import Chart, Colour, Period, Series, Step
from marketplace.ui.formatting import money
from wallet.models import Order

DAYS = 30
CACHE_SECONDS = 60
# Medians and outcomes are computed from this many of the newest decisions.
DECISIONS = 5_000


# A chart, and a sentence below it.
ChartWithNote = tuple[Chart, str]


def charts_for(viewer: Any, now: dt.datetime) -> list[ChartWithNote]:
    """Return the charts that the viewer may see."""
    period = Period.last(DAYS, Step.DAY, until=now)
    return [
        cast("ChartWithNote", caches["responses"].get_or_set(f"admin-chart-{name}", partial(draw, period), CACHE_SECONDS))
        for name, (permission, draw) in _CHARTS.items()
        if viewer.has_perm(permission)
    ]


def _sales(period: Period) -> ChartWithNote:
    # By the time-ordered ids, which are indexed.
    orders = Order.objects.filter(pk__gte=first_id_at(period.start), created_at__gte=period.start).order_by()
    days = orders.annotate(day=TruncDay("created_at", tzinfo=dt.UTC)).values("currency", "day")
    rows = list(days.values_list("currency", "day", Count("pk"), Sum("price_minor")))
    colours: dict[str, Colour] = {"USD": "accent", "INR": "mark"}
    series = [
        Series(f"Sales in {code}", period.fill({day: count for each, day, count, _ in rows if each == code}), colour)
        for code, colour in colours.items()
    ]
    sums: Counter[str] = Counter()
    for currency, _, _, amount in rows:
        sums[currency] += amount
    sold = " and ".join(money(amount, code) for code, amount in sorted(sums.items()))
    return Chart("sales", "Sales", period, series, "No sales in 30 days."), f"Sold for {sold}." if sold else ""


def _reviews(period: Period) -> ChartWithNote:
    colours: dict[str, Colour] = {ReviewStatus.APPROVED: "good", ReviewStatus.REJECTED: "bad"}
    # Without the records that takedowns and appeals create.
    submissions = ListingReview.objects.filter(submitted_by__isnull=False)
    decided = submissions.filter(decided_at__gte=period.start, status__in=colours).order_by("-decided_at")
    rows = decided.values_list("status", "decided_at", "submitted_at")[:DECISIONS]
    by_outcome = {name: [(at, since) for status, at, since in rows if status == name and at] for name in colours}
    series = [Series(name, period.fill(Counter(at for at, _ in by_outcome[name])), colour) for name, colour in colours.items()]
    now = timezone.now()
    waits = {name: median((at - since).total_seconds() for at, since in found) for name, found in by_outcome.items() if found}
    waited = ", ".join(f"{timesince(now - dt.timedelta(seconds=wait), now, depth=1)} until {name.lower()}" for name, wait in waits.items())
    return Chart("reviews", "Submissions decided", period, series, "No decisions in 30 days."), f"Median wait: {waited}." if waited else ""


def _calls(period: Period) -> ChartWithNote:
    outcome = Case(When(status__gte=500, then=Value("Failed")), When(status__gte=400, then=Value("Refused")), default=Value("Done"))
    calls = ApiUsage.objects.filter(day__gte=period.start.date()).order_by().annotate(outcome=outcome).values("outcome", "day")
    rows = list(calls.values_list("outcome", "day", Sum("calls")))
    colours: dict[str, Colour] = {"Done": "accent", "Refused": "wait", "Failed": "bad"}
    series = [
        Series(name, period.fill({day: count for each, day, count in rows if each == name}), colour) for name, colour in colours.items()
    ]
    return Chart("calls", "API calls", period, series, "No calls in 30 days."), ""


# The permission to see each chart.
_CHARTS: dict[str, tuple[str, Callable[[Period], ChartWithNote]]] = {
    "sales": ("wallet.view_order", _sales),
    "reviews": ("catalog.review_listing", _reviews),
    "calls": ("developers.view_app", _calls),
}

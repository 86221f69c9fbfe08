"""The chart of calls by outcome."""

from marketplace.ui.charts import Chart, ReferenceLine, Series, Step

from .selectors import Usage

MINUTES_PER_HOUR = 60


def chart_of(usage: Usage, *, calls_per_minute: int | None = None) -> Chart:
    """Return the chart of calls. If it is hourly, the rate limit of a key is a line in it."""
    counts_of_points = usage.points.values()
    series = [
        Series("done", [counts.done for counts in counts_of_points]),
        Series("refused (4xx)", [counts.refused for counts in counts_of_points], "wait"),
        Series("over the limit (429)", [counts.limited for counts in counts_of_points], "soft"),
        Series("failed (5xx)", [counts.failed for counts in counts_of_points], "bad"),
    ]
    hourly = usage.span.step == Step.HOUR
    reference = ReferenceLine("limit per hour", calls_per_minute * MINUTES_PER_HOUR) if calls_per_minute and hourly else None
    return Chart(
        "calls",
        f"Calls per {'hour' if hourly else 'day'} (UTC)",
        usage.period,
        series,
        empty_text=f"No calls in {usage.span.label}. They appear here within a minute.",
        reference=reference,
    )

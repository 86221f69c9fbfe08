"""The chart of calls by outcome."""

from marketplace.ui.charts import Chart, Mark, Series, Step

from .selectors import Usage

MINUTES = 60


def chart_of(usage: Usage, *, calls_per_minute: int | None = None) -> Chart:
    """Return the chart of calls. If it is hourly, the rate limit of a key is a mark."""
    tallies = usage.points.values()
    series = [
        Series("done", [tally.done for tally in tallies]),
        Series("refused (4xx)", [tally.refused for tally in tallies], "wait"),
        Series("over the limit (429)", [tally.limited for tally in tallies], "soft"),
        Series("failed (5xx)", [tally.failed for tally in tallies], "bad"),
    ]
    hourly = usage.span.step == Step.HOUR
    mark = Mark("limit an hour", calls_per_minute * MINUTES) if calls_per_minute and hourly else None
    return Chart(
        "calls",
        f"Calls {'an hour' if hourly else 'a day'} (UTC)",
        usage.period,
        series,
        nothing=f"No calls in {usage.span.label}. They appear here within a minute.",
        mark=mark,
    )

"""The chart and panels of calls in the last 30 days (`admin/developers/app_panels.html`)."""

from collections.abc import Mapping, Sequence
from typing import Any

from marketplace.review.panels import Panel

from ..usage.chart import chart_of
from ..usage.selectors import CallCounts, Usage


def usage_context(usage: Usage, panels: Sequence[Panel]) -> dict[str, Any]:
    """Return the chart and the panels of the page, those of the calls first."""
    calls = [
        _panel("Calls by operation", "Operation", usage.operations),
        _panel("Calls by key", "Key or token", usage.callers),
        Panel(
            "Refused and failed calls",
            ("Operation", "Outcome", "Calls"),
            [(refusal.operation, refusal.outcome, refusal.calls) for refusal in usage.refusals],
            empty="None in 30 days.",
        ),
    ]
    return {"panels": [*calls, *panels], "chart": chart_of(usage)}


def _panel(title: str, head: str, groups: Mapping[Any, CallCounts]) -> Panel:
    rows = [(name, counts.done, counts.refused, counts.limited, counts.failed, counts.total) for name, counts in groups.items()]
    return Panel(title, (head, "Done", "Refused", "Over the limit", "Failed", "All"), rows, empty="No calls in 30 days.")

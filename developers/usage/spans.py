"""How far back usage is shown."""

from dataclasses import dataclass

from django.utils import timezone

from marketplace.core.charts import Period, Step


@dataclass(frozen=True)
class Span:
    """So many hours or days, the present one included.

    Args:
        key: How an address names it.
        words: How people call it.
        step: What is added up.
        count: How many of these.
    """

    key: str
    words: str
    step: Step
    count: int

    def period(self) -> Period:
        """Return its points."""
        return Period.last(self.count, self.step, until=timezone.now())


DAY = Span("24h", "24 hours", Step.HOUR, 24)
WEEK = Span("7d", "7 days", Step.DAY, 7)
MONTH = Span("30d", "30 days", Step.DAY, 30)
SPANS = {span.key: span for span in (DAY, WEEK, MONTH)}

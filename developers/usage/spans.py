"""How far back usage is shown."""

from marketplace.core.charts import Span, Step

DAY = Span("24h", "24 hours", Step.HOUR, 24)
WEEK = Span("7d", "7 days", Step.DAY, 7)
MONTH = Span("30d", "30 days", Step.DAY, 30)
SPANS = {span.key: span for span in (DAY, WEEK, MONTH)}

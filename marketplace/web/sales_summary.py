"""The summaries and charts on a vendor's sales pages."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from marketplace.ui.charts import Chart, Period, Series, Span, Step
from marketplace.ui.formatting import money, short_money
from wallet.models import Journal
from wallet.models.ledger import JournalKind
from wallet.sales import SalesTotals

ByTime = Mapping[dt.datetime, SalesTotals]
CURRENCY_LABELS = {"INR": "rupees", "USD": "US dollars"}
MONTH = Span("30d", "30 days", Step.DAY, 30)
YEAR = Span("12m", "12 months", Step.MONTH, 12)
SPANS = {span.key: span for span in (MONTH, YEAR)}


@dataclass(frozen=True)
class SalesSummary:
    """The summary above the charts, in one currency."""

    currency: str
    # To be paid out; below zero after refunds of paid-out sales.
    due_minor: int
    # Earned in this month so far, and in the last.
    this_month_minor: int
    last_month_minor: int

    @property
    def comparison(self) -> str:
        """A sentence with this month as a percentage of the last; empty if nothing was earned then."""
        if self.last_month_minor <= 0:
            return ""
        percent = round(100 * self.this_month_minor / self.last_month_minor)
        return f"So far {percent}% of last month"


def since_of(period: Period, now: dt.datetime) -> dt.datetime:
    """Return the time from which totals are read: the start of the period, but at the latest that of last month."""
    return min(period.start, _two_months(now).start)


def summaries_of(accounts: Sequence[Any], totals: Mapping[str, ByTime], now: dt.datetime) -> list[SalesSummary]:
    """Return the summary of each account."""
    summaries = []
    for account in accounts:
        net = {moment: each.net_minor for moment, each in totals[account.currency].items()}
        last_month, this_month = _two_months(now).fill(net)
        summaries.append(SalesSummary(account.currency, account.unpaid_minor, this_month, last_month))
    return summaries


def charts_of(totals: Mapping[str, ByTime], period: Period, span: Span) -> list[Chart]:
    """Return the chart of sales, and of earnings in each currency."""
    if not totals:
        return []
    sold, refunded = Counter[dt.datetime](), Counter[dt.datetime]()
    for by_time in totals.values():
        for moment, each in by_time.items():
            sold[moment] += each.sold
            refunded[moment] -= each.refunded
    counts = Chart(
        "sales",
        f"Sales per {span.step} (UTC)",
        period,
        [Series("sold", period.fill(sold)), Series("refunded", period.fill(refunded), "bad")],
        empty_text=f"Nothing was sold in {span.label}.",
    )
    return [counts, *(_earnings(currency, by_time, period, span) for currency, by_time in totals.items())]


def _earnings(currency: str, by_time: ByTime, period: Period, span: Span) -> Chart:
    sales = period.fill({moment: each.sales_minor for moment, each in by_time.items()})
    refunds = period.fill({moment: each.refunds_minor for moment, each in by_time.items()})
    return Chart(
        f"earned-{currency.lower()}",
        f"Earned per {span.step} in {CURRENCY_LABELS[currency]} (UTC)",
        period,
        [
            Series("your share of sales", sales),
            Series("reversed by refunds", refunds, "bad"),
            Series("net", [sale + refund for sale, refund in zip(sales, refunds, strict=True)], "mark", "line"),
        ],
        empty_text=f"Nothing was earned in {CURRENCY_LABELS[currency]} in {span.label}.",
        show=partial(money, currency=currency),
        tick=partial(short_money, currency=currency),
    )


def _two_months(now: dt.datetime) -> Period:
    """Return the last month and this one."""
    return Period.last(2, Step.MONTH, until=now)


def parts_of(line: Journal) -> list[tuple[str, int | None]]:
    """Return the parts of the price of a line of the statement by name; a refund reverses all of them."""
    order, sign = line.order, -1 if line.kind == JournalKind.REFUND else 1
    amounts = (sign * order.price_minor, -sign * order.tax_minor, -sign * order.commission_minor) if order else (None, None, None)
    return [*zip(("Price", "Tax", "Commission"), amounts, strict=True), ("Your share", line.vendor_net_minor)]

"""A vendor's sales by day or month, and by listing. Amounts are the vendor's share; refunds are negative."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDay, TruncMonth

from marketplace.ui.charts import Step

from .models import Journal, LedgerAccount, VendorPayout
from .models.ledger import JournalKind
from .selectors import vendor_payouts

_TRADE = (JournalKind.SALE.value, JournalKind.REFUND.value)
_AMOUNT = BigIntegerField()
_TRUNCATE = {Step.DAY: TruncDay, Step.MONTH: TruncMonth}


@dataclass
class SalesTotals:
    """Sales and refunds of one day or month in one currency; the amount of refunds is negative."""

    sold: int = 0
    refunded: int = 0
    sales_minor: int = 0
    refunds_minor: int = 0

    @property
    def net_minor(self) -> int:
        """The sum of sales and refunds."""
        return self.sales_minor + self.refunds_minor


def sales_totals_of(accounts: Iterable[LedgerAccount], *, since: dt.datetime, step: Step) -> dict[str, dict[dt.datetime, SalesTotals]]:
    """Return the totals of a vendor's accounts since a time, by currency, then by day or month (UTC), in one query."""
    currencies = {account.pk: account.currency for account in accounts}
    rows = (
        _trade(currencies, since)
        .values_list("vendor", "kind", _TRUNCATE[step]("at", tzinfo=dt.UTC))
        .annotate(count=Count("pk"), net=Sum("vendor_net_minor"))
    )
    found: dict[str, dict[dt.datetime, SalesTotals]] = {currency: defaultdict(SalesTotals) for currency in currencies.values()}
    for account, kind, moment, count, net in rows:
        totals = found[currencies[account]][moment]
        if kind == JournalKind.SALE:
            totals.sold, totals.sales_minor = count, net
        else:
            totals.refunded, totals.refunds_minor = count, net
    return found


def sales_by_listing(accounts: Sequence[LedgerAccount], *, since: dt.datetime) -> "QuerySet[Any, Any]":
    """Return the listings with sales or refunds since a time, best-selling first: title, slug, sold, refunded and `net_<currency>`."""
    sums = {
        f"net_{account.currency}": Coalesce(Sum("vendor_net_minor", filter=Q(vendor=account.pk)), 0, output_field=_AMOUNT)
        for account in accounts
    }
    return (
        _trade([account.pk for account in accounts], since)
        .values("order__listing", "order__listing__title", "order__listing__slug")
        .annotate(sold=Count("pk", filter=Q(kind=JournalKind.SALE)), refunded=Count("pk", filter=Q(kind=JournalKind.REFUND)), **sums)
        .order_by("-sold", "order__listing__title", "order__listing")
    )


def payouts_of(accounts: Iterable[LedgerAccount]) -> QuerySet[VendorPayout]:
    """Return the payouts of a vendor's accounts, newest first."""
    return vendor_payouts().filter(account__in=[account.pk for account in accounts])


def _trade(accounts: Iterable[Any], since: dt.datetime) -> QuerySet[Journal]:
    return Journal.objects.filter(vendor__in=list(accounts), at__gte=since, kind__in=_TRADE).order_by()

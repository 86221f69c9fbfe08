"""The endpoint of a vendor's earnings."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.api.pagination import newest_first
from marketplace.core.access import bearer_only
from marketplace.core.scopes import Scope
from vendors.api.views.base import VendorViewSet

from ...models.quotes import CURRENCIES
from ...selectors import earnings_of, journals_of
from ..serializers.earnings import EarningsPage
from ..serializers.history import HistoryQuery


class EarningsViewSet(VendorViewSet):
    """The caller's own earnings."""

    access = {"retrieve": bearer_only(Scope.VENDOR_MANAGE)}
    queries = {"retrieve": HistoryQuery}

    @extend_schema(operation_id="listEarnings", summary="List your earnings", responses=EarningsPage)
    def retrieve(self, request: Request) -> Response:
        """Return the amounts to be paid out and the sales, refunds and payouts behind them, newest first."""
        accounts = earnings_of(self.user)
        page = newest_first(map(journals_of, accounts), "at", **self.query())
        earned = {account.currency: account.unpaid_minor for account in accounts}
        balances = [{"currency": currency, "balance_minor": earned.get(currency, 0)} for currency in CURRENCIES]
        return Response(EarningsPage({"balances": balances, "items": page.rows, "nextCursor": page.next_cursor}).data)

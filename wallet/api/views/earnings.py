"""What a vendor earned and was paid (decisions.md section 7)."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.core.access import bearer_only
from marketplace.core.errors import InvalidInput
from marketplace.core.scopes import Scope
from vendors.api.views.base import VendorViewSet
from vendors.errors import VendorNotApproved

from ...models.ledger import AccountKind
from ...selectors import earnings_of, movements_of
from ..paging import page_of
from ..serializers.earnings import EarningsPage
from ..serializers.history import HistoryQuery


class EarningsViewSet(VendorViewSet):
    """The caller's own earnings."""

    access = {"retrieve": bearer_only(Scope.VENDOR_MANAGE)}
    problems = {"retrieve": (VendorNotApproved, InvalidInput)}

    @extend_schema(operation_id="listEarnings", summary="Read own earnings", parameters=[HistoryQuery], responses=EarningsPage)
    def retrieve(self, request: Request) -> Response:
        """Read what is to be paid, and the sales, refunds and payouts that led to it, newest first."""
        lines = movements_of(self.user, AccountKind.VENDOR).select_related("order__listing")
        page = page_of(request, lines, "at")
        balances = [{"currency": currency, "balance_minor": held} for currency, held in earnings_of(self.user).items()]
        return Response(EarningsPage(page | {"balances": balances}).data)

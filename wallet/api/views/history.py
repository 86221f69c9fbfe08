"""The endpoints of purchases, receipts and wallet transactions."""

from http import HTTPStatus

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.views import ApiViewSet
from marketplace.core.access import key_or_bearer
from marketplace.core.scopes import Scope

from ... import receipts
from ...models import Order
from ...selectors import accounts_of, journals_of, order_of, orders_of
from ..filters import OrderFilter, TransactionFilter
from ..paging import page_of
from ..serializers.history import HistoryQuery, OrderPage, OrderResponse, WalletTransactionPage

ORDER_ID = OpenApiParameter("order_id", str, OpenApiParameter.PATH, description="orderId of a purchase.")
HTML, PDF = "text/html", "application/pdf"
_ACCOUNT = key_or_bearer(Scope.ACCOUNT_READ)


class HistoryViewSet(ApiViewSet):
    """The caller's purchases and wallet transactions."""

    access = dict.fromkeys(("orders", "order", "receipt", "receipt_pdf", "transactions"), _ACCOUNT)
    queries = dict.fromkeys(("orders", "transactions"), HistoryQuery)
    filters = {"orders": OrderFilter, "transactions": TransactionFilter}

    @extend_schema(operation_id="listOrders", summary="List purchases", responses=OrderPage)
    def orders(self, request: Request) -> Response:
        """List the caller's purchases, newest first."""
        orders = self.filtered(orders_of(principal_of(request).user))
        return Response(OrderPage(page_of(self.query(), "created_at", *orders)).data)

    @extend_schema(
        operation_id="listTransactions",
        summary="List wallet transactions",
        responses=WalletTransactionPage,
    )
    def transactions(self, request: Request) -> Response:
        """List all credits and debits of the wallet, newest first."""
        wallets = accounts_of(principal_of(request).user)
        journals = self.filtered(*map(journals_of, wallets))
        return Response(WalletTransactionPage(page_of(self.query(), "at", *journals)).data)

    @extend_schema(operation_id="getOrder", summary="Get a purchase", parameters=[ORDER_ID], responses=OrderResponse)
    def order(self, request: Request, order_id: str) -> Response:
        """Return one of the caller's purchases."""
        return Response(OrderResponse(own_order(request, order_id)).data)

    @extend_schema(
        operation_id="getReceipt", summary="Get a receipt", parameters=[ORDER_ID], responses={(HTTPStatus.OK, HTML): OpenApiTypes.STR}
    )
    def receipt(self, request: Request, order_id: str) -> HttpResponseBase:
        """Return the receipt of a purchase as a standalone HTML page without scripts."""
        page = receipts.as_html(own_order(request, order_id))
        return HttpResponse(page, content_type=f"{HTML}; charset=utf-8", headers={"Content-Security-Policy": receipts.CONTENT_POLICY})

    @extend_schema(
        operation_id="getReceiptPdf",
        summary="Get a receipt as PDF",
        parameters=[ORDER_ID],
        responses={(HTTPStatus.OK, PDF): OpenApiTypes.BINARY},
    )
    def receipt_pdf(self, request: Request, order_id: str) -> HttpResponseBase:
        """Return the receipt of a purchase as a PDF."""
        return receipts.pdf_response(own_order(request, order_id))


def own_order(request: Request, order_id: str) -> Order:
    """Return one of the caller's purchases.

    Raises:
        NotFound: it is not theirs.
    """
    return order_of(principal_of(request).user, order_id)

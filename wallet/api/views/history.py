"""The endpoints of purchases, receipts and wallet transactions."""

from http import HTTPStatus

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.pagination import newest_first
from marketplace.api.views import ApiViewSet
from marketplace.core.access import key_or_bearer
from marketplace.core.scopes import Scope

from ... import receipts
from ...selectors import accounts_of, journals_of, order_of, orders_of
from ..filters import OrderFilter, TransactionFilter
from ..serializers.history import HistoryQuery, OrderPage, OrderResponse, WalletTransactionPage

PDF_RESPONSE = {(HTTPStatus.OK, "application/pdf"): OpenApiTypes.BINARY}
_READ = key_or_bearer(Scope.ACCOUNT_READ)


class HistoryViewSet(ApiViewSet):
    """The caller's purchases and wallet transactions."""

    access = dict.fromkeys(("orders", "order", "receipt", "receipt_pdf", "transactions"), _READ)
    queries = dict.fromkeys(("orders", "transactions"), HistoryQuery)
    filters = {"orders": OrderFilter, "transactions": TransactionFilter}

    @extend_schema(operation_id="listOrders", summary="List purchases", responses=OrderPage)
    def orders(self, request: Request) -> Response:
        """List the caller's purchases, newest first."""
        orders = self.filtered(orders_of(principal_of(request).user))
        return Response(OrderPage(newest_first(orders, "created_at", **self.query())).data)

    @extend_schema(operation_id="listTransactions", summary="List wallet transactions", responses=WalletTransactionPage)
    def transactions(self, request: Request) -> Response:
        """List all credits and debits of the wallet, newest first."""
        wallets = accounts_of(principal_of(request).user)
        journals = self.filtered(*map(journals_of, wallets))
        return Response(WalletTransactionPage(newest_first(journals, "at", **self.query())).data)

    @extend_schema(operation_id="getOrder", summary="Get a purchase", responses=OrderResponse)
    def order(self, request: Request, order_id: str) -> Response:
        """Return one of the caller's purchases."""
        return Response(OrderResponse(order_of(principal_of(request).user, order_id)).data)

    @extend_schema(operation_id="getReceipt", summary="Get a receipt", responses={(HTTPStatus.OK, "text/html"): OpenApiTypes.STR})
    def receipt(self, request: Request, order_id: str) -> HttpResponseBase:
        """Return the receipt of a purchase as a standalone HTML page without scripts."""
        page = receipts.as_html(order_of(principal_of(request).user, order_id))
        return HttpResponse(page, headers={"Content-Security-Policy": receipts.CONTENT_POLICY})

    @extend_schema(operation_id="getReceiptPdf", summary="Get a receipt as PDF", responses=PDF_RESPONSE)
    def receipt_pdf(self, request: Request, order_id: str) -> HttpResponseBase:
        """Return the receipt of a purchase as a PDF."""
        return receipts.pdf_response(order_of(principal_of(request).user, order_id))

"""The endpoints of billing details and invoices."""

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import key_or_bearer
from marketplace.core.errors import InvalidInput
from marketplace.core.scopes import Scope

from ...errors import InvalidBillingDetails, InvoicePending, NotInvoiced
from ...invoice_documents import invoice_pdf_response
from ...models import BillingDetails
from ...models.invoices import InvoiceKind
from ...selectors import billing_details_of, invoice_of_order
from ...services.billing import save_billing_details
from ..serializers.invoices import API_NAMES, BillingBody, BillingResponse, InvoiceResponse
from .history import PDF_RESPONSE

_READ, _SPEND = key_or_bearer(Scope.ACCOUNT_READ), key_or_bearer(Scope.WALLET_SPEND)


class BillingViewSet(ApiViewSet):
    """The name and address on the caller's invoices."""

    access = {"retrieve": _READ, "update": _SPEND}
    problems = {"update": (InvalidBillingDetails,)}

    @extend_schema(operation_id="getBillingDetails", summary="Get the billing details", responses=BillingResponse)
    def retrieve(self, request: Request) -> Response:
        """Return the name, address and tax id on future invoices."""
        details = billing_details_of(principal_of(request).user)
        return Response(BillingResponse(details or BillingDetails()).data)

    @extend_schema(operation_id="updateBillingDetails", summary="Set the billing details", request=BillingBody, responses=BillingResponse)
    def update(self, request: Request) -> Response:
        """Set the name, address and tax id on future invoices; past ones stay as they were."""
        user, body = principal_of(request).user, parse_body(BillingBody, request)
        try:
            details = save_billing_details(user=user, values=body, actor=user)
        except InvalidInput as problem:
            errors = [error | {"pointer": _pointer(error["pointer"])} for error in problem.members["errors"]]
            raise InvalidBillingDetails(problem.message, errors=errors) from problem
        return Response(BillingResponse(details).data)


class InvoiceViewSet(ApiViewSet):
    """The invoices of the caller's purchases."""

    access = dict.fromkeys(("retrieve", "pdf", "credit_note_pdf"), _READ)
    problems = dict.fromkeys(("retrieve", "pdf", "credit_note_pdf"), (InvoicePending, NotInvoiced))

    @extend_schema(operation_id="getInvoice", summary="Get an invoice", responses=InvoiceResponse)
    def retrieve(self, request: Request, order_id: str) -> Response:
        """Return the invoice of a purchase, and its credit note if it was refunded or charged back. An invoice is issued within a minute of the purchase."""
        return Response(InvoiceResponse(invoice_of_order(principal_of(request).user, order_id)).data)

    @extend_schema(operation_id="getInvoicePdf", summary="Get an invoice as PDF", responses=PDF_RESPONSE)
    def pdf(self, request: Request, order_id: str) -> HttpResponseBase:
        """Return the invoice of a purchase as a PDF."""
        return invoice_pdf_response(invoice_of_order(principal_of(request).user, order_id))

    @extend_schema(operation_id="getCreditNotePdf", summary="Get a credit note as PDF", responses=PDF_RESPONSE)
    def credit_note_pdf(self, request: Request, order_id: str) -> HttpResponseBase:
        """Return the credit note of a purchase that was refunded or charged back as a PDF."""
        return invoice_pdf_response(invoice_of_order(principal_of(request).user, order_id, InvoiceKind.CREDIT_NOTE))


def _pointer(pointer: str) -> str:
    name = pointer.removeprefix("#/")
    return f"#/{API_NAMES.get(name, name)}"

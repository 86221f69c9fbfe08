"""Billing details, the documents of an order, and a vendor's invoices by month."""

import uuid

from django.contrib import messages
from django.db.models import Count
from django.db.models.functions import TruncMonth
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme

from marketplace.accounts.pages import (
    SignedInRequest,
    confirmed_page,
    posted,
    problems_as_form_errors,
    problems_as_messages,
    render_form,
    signed_in_page,
)
from marketplace.core.errors import Problem
from marketplace.http.client_address import client_country
from vendors.models import VendorProfile
from vendors.studio.access import vendor_page
from wallet.invoice_csv import invoice_csv_lines, parse_month
from wallet.invoice_documents import invoice_pdf_response
from wallet.models import Invoice, Order, Seller
from wallet.models.invoices import InvoiceKind
from wallet.places import INDIA
from wallet.selectors import billing_details_of, invoice_of_order, invoices, invoices_of_month, is_invoiced
from wallet.services.billing import BILLING_FIELDS, change_logo, save_billing_details
from wallet.spreadsheets import csv_response

from ..billing_forms import BillingForm


@signed_in_page("GET", "POST")
def details(request: SignedInRequest) -> HttpResponseBase:
    """Edit the billing details, and return to the page that asked for them."""
    current = billing_details_of(request.user)
    known = {} if current is None else {name: getattr(current, name) for name in BILLING_FIELDS}
    if known.get("country") == INDIA:
        known |= {"state": known["region"], "region": ""}
    form = BillingForm(posted(request), initial=known)
    following = request.GET.get("next", "")
    # A word without a slash would be taken for the name of a route.
    if not (following.startswith("/") and url_has_allowed_host_and_scheme(following, {request.get_host()}, request.is_secure())):
        following = ""
    if form.is_valid():
        with problems_as_form_errors(form):
            save_billing_details(user=request.user, values=form.details(), actor=request.user, connection_country=client_country(request))
            messages.success(request, "Your billing details were saved.")
            return redirect(following or "billing-page")
    has_logo = current is not None and current.logo_id is not None
    return render_form(request, "account/billing.html", form, next=following, in_own_name=_sells_in_own_name(request), has_logo=has_logo)


@signed_in_page("GET", "POST")
def logo(request: SignedInRequest) -> HttpResponseBase:
    """Return the logo on the invoices of a vendor who sells in their own name; a POST sets or removes it."""
    if not _sells_in_own_name(request):
        raise Http404
    if request.method == "POST":
        file = request.FILES.get("logo")
        image = b"" if file is None else file.read()
        if not image and "remove" not in request.POST:
            messages.error(request, "Choose an image.")
        else:
            with problems_as_messages(request, "The logo is saved. It is on your next invoice." if image else "The logo is removed."):
                change_logo(user=request.user, image=image, actor=request.user)
        return redirect("billing-page")
    current = billing_details_of(request.user)
    if current is None or current.logo is None:
        raise Http404
    return HttpResponse(bytes(current.logo.image), content_type="image/jpeg")


def _sells_in_own_name(request: SignedInRequest) -> bool:
    return Seller.objects.filter(vendor=request.user).exists()


@signed_in_page("GET")
def document(request: SignedInRequest, order_id: uuid.UUID, kind: InvoiceKind) -> HttpResponseBase:
    """Return the invoice of an order, or its credit note, as a PDF."""
    try:
        return invoice_pdf_response(invoice_of_order(request.user, str(order_id), kind))
    except Problem as problem:
        raise Http404 from problem


@vendor_page("GET")
def months(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """List the months in which sales of the vendor were invoiced, newest first, with the number of documents."""
    documents = Invoice.objects.filter(vendor=request.user).annotate(month=TruncMonth("date")).order_by("-month").values("month")
    context = {
        "months": list(documents.annotate(count=Count("pk")).values_list("month", "count")),
        "billing": billing_details_of(request.user),
        "seller": Seller.objects.filter(vendor=request.user, is_active=True).exists(),
    }
    return render(request, "studio/sales/invoices.html", context)


@vendor_page("GET")
@confirmed_page
def month_csv(request: SignedInRequest, profile: VendorProfile, month: str) -> HttpResponseBase:
    """Return the documents of a month as CSV."""
    first = parse_month(month)
    if first is None:
        raise Http404
    lines = invoice_csv_lines(invoices_of_month(first, vendor=request.user).iterator(chunk_size=500), reader=request.user)
    return csv_response(lines, f"invoices-{profile.store.slug}-{month}.csv")


def documents_of(order: Order) -> list[tuple[str, str, Invoice | None]]:
    """Return label, route and document of the invoice and the credit note that an order has or will have; the document is None until it is issued."""
    issued = {document.kind: document for document in invoices().filter(order=order)}
    routes = {InvoiceKind.INVOICE: "order-page-invoice", InvoiceKind.CREDIT_NOTE: "order-page-credit-note"}
    return [(kind.label, route, issued.get(kind)) for kind, route in routes.items() if is_invoiced(order, kind)]

"""Refund requests: the buyer asks, and the vendor answers; and the evidence of an order for both."""

import uuid

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.models import User
from marketplace.accounts.pages import (
    SignedInRequest,
    posted,
    problems_as_form_errors,
    problems_as_messages,
    render_form,
    signed_in_page,
)
from vendors.models import VendorProfile
from vendors.studio.access import vendor_page
from wallet.evidence import Reader, evidence_response
from wallet.models import Order, RefundRequest
from wallet.models.refund_requests import RefundRequestStatus
from wallet.refund_facts import refund_facts
from wallet.selectors import order_of, refund_requests_to, sale_of
from wallet.services import refund_requests
from wallet.services.refunds import REQUEST_TRANSITIONS

from ..paging import page_context, page_of
from ..refund_forms import DeclineForm, EscalationForm, RefundForm

ROWS = 25


@signed_in_page("GET", "POST")
def request_refund(request: SignedInRequest, order_id: uuid.UUID) -> HttpResponseBase:
    """Request a refund of an order."""
    order = order_of(request.user, str(order_id))
    form = RefundForm(posted(request))
    if form.is_valid():
        with problems_as_form_errors(form):
            made = refund_requests.request_refund(order=order, **form.cleaned_data, actor=request.user)
            refunded = made.status == RefundRequestStatus.REFUNDED
            messages.success(request, "It was refunded." if refunded else "We passed your request on. You get an email with the answer.")
            return redirect("order-page", order_id=order_id)
    days = {"window_days": settings.REFUND_WINDOW_DAYS, "answer_days": settings.REFUND_ANSWER_DAYS}
    return render_form(request, "buyer/refund_form.html", form, order=order, **days)


@signed_in_page("GET", "POST")
def escalate(request: SignedInRequest, order_id: uuid.UUID) -> HttpResponseBase:
    """Ask staff to decide after the vendor declined."""
    order = order_of(request.user, str(order_id))
    found = get_object_or_404(RefundRequest, order=order)
    form = EscalationForm(posted(request))
    if form.is_valid():
        with problems_as_form_errors(form):
            refund_requests.escalate_refund_request(refund_request=found, reason=form.cleaned_data["reason"], actor=request.user)
            messages.success(request, "Our staff will decide and email you.")
            return redirect("order-page", order_id=order_id)
    return render_form(request, "buyer/refund_escalation_form.html", form, order=order, refund_request=found)


@signed_in_page("GET")
def evidence(request: SignedInRequest, order_id: uuid.UUID) -> HttpResponseBase:
    """Return the signed evidence of an order as a JSON file."""
    return evidence_response(order_of(request.user, str(order_id)), Reader.BUYER)


@vendor_page("GET")
def vendor_refund_requests(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """List the refund requests for the vendor's sales, newest first."""
    page = page_of(request, refund_requests_to(request.user), ROWS)
    return render(request, "studio/sales/refunds.html", {"refund_requests": page, **page_context(page)})


def _refund_request_to(user: User, refund_request_id: uuid.UUID) -> RefundRequest:
    return get_object_or_404(refund_requests_to(user), pk=refund_request_id)


@vendor_page("GET", "POST", find=_refund_request_to)
def vendor_refund_request(request: SignedInRequest, profile: VendorProfile, found: RefundRequest) -> HttpResponseBase:
    """Show what a decision is based on; a POST declines."""
    form = DeclineForm(posted(request))
    if form.is_valid():
        with problems_as_form_errors(form):
            refund_requests.decline_refund(refund_request=found, reason=form.cleaned_data["reason"], actor=request.user)
            messages.success(request, "You declined. The buyer is told the reason.")
            return redirect("vendor-refund-request", refund_request_id=found.pk)
    context = {
        "refund_request": found,
        "order": found.order,
        "refund_facts": refund_facts(found.order),
        "can_agree": REQUEST_TRANSITIONS.allows(found, "refund"),
        "can_decline": REQUEST_TRANSITIONS.allows(found, "decline") and not found.is_overdue,
    }
    return render_form(request, "studio/sales/refund.html", form, **context)


@vendor_page("POST", find=_refund_request_to)
def agree(request: SignedInRequest, profile: VendorProfile, found: RefundRequest) -> HttpResponseBase:
    """Refund a sale."""
    with problems_as_messages(request, "The sale was refunded."):
        refund_requests.agree_to_refund(refund_request=found, actor=request.user)
    return redirect("vendor-refund-request", refund_request_id=found.pk)


@vendor_page("GET", find=sale_of)
def sale_evidence(_request: SignedInRequest, _profile: VendorProfile, order: Order) -> HttpResponseBase:
    """Return the signed evidence of a sale as a JSON file, without what only the buyer may see."""
    return evidence_response(order, Reader.VENDOR)

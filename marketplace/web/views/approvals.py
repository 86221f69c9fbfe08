"""Approvals: the owner of the wallet decides on purchases that exceed a spending limit."""

import uuid

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.pages import (
    SignedInRequest,
    posted,
    problems_as_form_errors,
    problems_as_messages,
    render_form,
    signed_in_page,
)
from wallet.approval_queries import approvals_of, waiting_approvals_of
from wallet.models import Approval
from wallet.models.approvals import ApprovalStatus
from wallet.selectors import wallet_of
from wallet.services.approvals import approve_purchase, decline_purchase, needs_password, suggest_limit

from ..forms import ApprovalForm

ROWS = 25


@signed_in_page("GET")
def approvals(request: SignedInRequest) -> HttpResponseBase:
    """List the purchases that wait, then the newest of the others."""
    waiting = list(waiting_approvals_of(request.user))
    others = approvals_of(request.user).exclude(pk__in=[each.pk for each in waiting])[:ROWS]
    return render(request, "buyer/approvals.html", {"waiting": waiting, "others": others})


@signed_in_page("GET", "POST")
def approval(request: SignedInRequest, approval_id: uuid.UUID) -> HttpResponseBase:
    """Show a purchase that an app or a token asks for; a POST approves it."""
    found = get_object_or_404(approvals_of(request.user).select_related("quote__listing__category"), pk=approval_id)
    form = _form(request, found) if found.current_status == ApprovalStatus.WAITING else None
    if form is not None and form.is_valid():
        with problems_as_form_errors(form):
            approve_purchase(
                approval=found, actor=request.user, password_confirmed=form.password_confirmed, raised_limit=form.raised_limit()
            )
            messages.success(request, f"{found.spender_name} can buy it now, once, at this price.")
            return redirect("approval", approval_id=approval_id)
    balance = wallet_of(request.user).balance_minor(found.quote.currency)
    context = {"approval": found, "quote": found.quote, "listing": found.quote.listing, "balance": balance}
    if form is None:
        return render(request, "buyer/approval.html", context)
    return render_form(request, "buyer/approval.html", form, **context)


@signed_in_page("POST")
def decline(request: SignedInRequest, approval_id: uuid.UUID) -> HttpResponseBase:
    """Decline a purchase."""
    found = get_object_or_404(approvals_of(request.user), pk=approval_id)
    with problems_as_messages(request, "Declined. Nothing is bought."):
        decline_purchase(approval=found, actor=request.user)
    return redirect("approval", approval_id=approval_id)


def _form(request: SignedInRequest, found: Approval) -> ApprovalForm | None:
    """Return the form that approves; None if the app or token may not spend any more."""
    limit = suggest_limit(approval=found)
    if limit is None:
        return None
    return ApprovalForm(posted(request), request=request, limit=limit, with_password=needs_password(approval=found))

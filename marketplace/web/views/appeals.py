"""The pages on which the owner of what was rejected, taken down or suspended appeals the decision, and sees all appeals."""

import uuid

from django import forms
from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.models import AuditEntry
from marketplace.review.appeals import appealable_of, appeals_of, own_decision, subjects_of, submit_appeal, wait_of_appeal, with_positions
from marketplace.review.subjects import action_label
from marketplace.ui.forms import Prose

from ..paging import page_context, page_of

OUTCOMES = {
    "listing.takedown": "taken off sale",
    "listing.reject": "rejected",
    "listing_update.reject": "its new file was rejected",
    "vendor.reject": "not approved",
    "vendor.suspend": "suspended",
    "app.reject": "rejected",
    "app.suspend": "suspended",
    "application.reject": "rejected",
    "application.withdraw": "approval withdrawn",
}
ROWS = 25


class AppealForm(forms.Form):
    """Asks why a decision is wrong."""

    text = Prose(
        label="Why is the decision wrong?",
        help_text="The reviewer knows the decision and what it is about. Write what they may have missed.",
        rows=6,
    )


@signed_in_page("GET")
def appeals(request: SignedInRequest) -> HttpResponse:
    """List the user's appeals, newest first."""
    page = page_of(request, with_positions(appeals_of(request.user)), ROWS)
    shown = list(page)
    subjects = subjects_of(shown)
    rows = [{"appeal": each, "subject": subjects.get(each.pk), "outcome": _outcome(each.decision)} for each in shown]
    return render(request, "pages/appeals.html", {"rows": rows, **page_context(page)})


@signed_in_page("GET", "POST")
def appeal(request: SignedInRequest, decision_id: uuid.UUID) -> HttpResponseBase:
    """Show a decision with the user's appeal, or the form to appeal it."""
    decision, subject = own_decision(decision_id=decision_id, user=request.user)
    form = AppealForm(posted(request))
    if form.is_valid():
        with problems_as_form_errors(form):
            submit_appeal(decision=decision, text=form.cleaned_data["text"], actor=request.user)
            messages.success(request, "Your appeal is with our reviewers. You get an email when they have decided.")
            return redirect("appeal", decision_id=decision_id)
    appealable, found = appealable_of(decision), getattr(decision, "appeal", None)
    return render_form(
        request,
        "pages/appeal.html",
        form,
        decision=decision,
        outcome=_outcome(decision),
        name=str(subject),
        page=appealable.page(subject) if appealable else "",
        appeal=found,
        wait=None if found is None else wait_of_appeal(found),
    )


def _outcome(decision: AuditEntry) -> str:
    return OUTCOMES.get(decision.action, action_label(decision.action))

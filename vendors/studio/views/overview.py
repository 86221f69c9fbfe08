"""The overview of a listing: its status, the checklist, and the next step."""

from django.http import HttpResponseBase
from django.shortcuts import render

from catalog.models import Listing
from catalog.pricing import current_price
from catalog.selectors.reviews import wait_of_review
from marketplace.accounts.pages import SignedInRequest
from marketplace.core.money import Currency
from marketplace.review.appeals import appealable_of

from ...selectors import last_review_of
from ..access import listing_page
from ..presenters import checklist_of, finding_rows, last_steps, may_submit, timeline_of


@listing_page("GET")
def overview(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Show the listing's status, checklist and next step."""
    submittable = may_submit(listing)
    review, steps = last_review_of(listing), last_steps(listing)
    checks = checklist_of(listing) if submittable else []
    context = {
        "listing": listing,
        "price": current_price(listing, Currency.USD),
        "may_submit": submittable,
        "checks": checks,
        "ready": all(check.passed for check in checks),
        "review": review,
        "wait": wait_of_review(review),
        "decision": steps[0] if steps and appealable_of(steps[0]) else None,
        "findings": [] if review is None else finding_rows(review.findings),
        "timeline": timeline_of(listing, steps),
    }
    return render(request, "studio/overview.html", context)

"""Submits, withdraws, unpublishes and deletes listings."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render

from catalog.models import Listing
from catalog.models.listings import ListingStatus
from catalog.services.submission import unpublish_listing, withdraw_listing
from marketplace.accounts.pages import SignedInRequest
from marketplace.core.errors import InvalidTransition, PreconditionFailed, Problem

from ...errors import DraftNotDeletable, SubmitChecksFailed
from ...services import submission
from ...services.drafts import delete_draft
from ..access import listing_page


@listing_page("POST")
def submit(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Submit the listing, or the new file of a published one, for review."""
    return _run_step(request, listing, "It is with our reviewers. You get an email when they have decided.", submission.check_and_submit)


@listing_page("GET", "POST")
def withdraw(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Withdraw the submission, after a confirmation page."""
    if request.method == "POST":
        return _run_step(request, listing, "It was withdrawn from review.", withdraw_listing)
    if ListingStatus.PENDING_REVIEW not in (listing.status, listing.update_status):
        return redirect("studio-listing", slug=listing.slug)
    return render(request, "studio/withdraw.html", {"listing": listing})


@listing_page("GET", "POST")
def unpublish(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Unpublish the listing, after a confirmation page."""
    if request.method == "POST":
        return _run_step(request, listing, "It is no longer on sale. Buyers keep it.", unpublish_listing)
    if listing.status != ListingStatus.PUBLISHED:
        return redirect("studio-listing", slug=listing.slug)
    return render(request, "studio/unpublish.html", {"listing": listing})


@listing_page("GET", "POST")
def delete(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Delete a draft, after a confirmation page. It is not deleted if it has changed since the page was opened."""
    if request.method == "POST":
        listing.required_etags = [request.POST.get("etag", "")]
        try:
            delete_draft(listing=listing, actor=request.user)
        except PreconditionFailed:
            messages.error(request, "Not deleted: the draft has changed since you opened the page. See what is new, then decide.")
        except DraftNotDeletable as problem:
            messages.error(request, f"Not deleted. {problem.message}")
        else:
            messages.success(request, f"{listing.title} was deleted.")
            return redirect("studio")
    elif not listing.was_submitted:
        return render(request, "studio/delete.html", {"listing": listing})
    return redirect("studio-listing", slug=listing.slug)


def _run_step(request: SignedInRequest, listing: Listing, done: str, service: Callable[..., object]) -> HttpResponseBase:
    """Run a step and redirect to the overview; an error is shown there as a message."""
    try:
        service(listing=listing, actor=request.user)
    except SubmitChecksFailed:
        messages.error(request, "It was not submitted. See below what is missing.")
    except InvalidTransition:
        messages.error(
            request, "Nothing was changed, because the listing's status has changed in the meantime. Its current status is shown here."
        )
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, done)
    return redirect("studio-listing", slug=listing.slug)

"""The page of a listing's submissions and findings."""

from django import forms
from django.http import Http404, HttpResponseBase
from django.shortcuts import render

from catalog.models import Listing
from marketplace.accounts.pages import SignedInRequest

from ...selectors import reviews_of
from ..access import listing_page
from ..presenters import check_rows, finding_rows

ROWS = 10


class _Place(forms.Form):
    """Validates the position at which the page begins."""

    after = forms.UUIDField(required=False)


@listing_page("GET")
def review_list(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """List the submissions with their outcomes, newest first."""
    place = _Place(request.GET)
    if not place.is_valid():
        raise Http404
    after = place.cleaned_data["after"]
    reviews = reviews_of(listing)
    found = list((reviews.filter(pk__lt=after) if after else reviews)[: ROWS + 1])
    shown = found[:ROWS]
    context = {
        "listing": listing,
        "rows": [(review, finding_rows(review.findings), check_rows(review.checks), review.snapshot.get("file")) for review in shown],
        "later": after is not None,
        "first": request.path,
        "next": f"{request.path}?after={shown[-1].pk}" if len(found) > ROWS else "",
    }
    return render(request, "studio/reviews.html", context)

"""The page of a listing's submissions and findings."""

from django.http import Http404, HttpResponseBase
from django.shortcuts import render

from catalog.models import Listing
from marketplace.accounts.pages import SignedInRequest
from marketplace.core.ids import looks_like_id

from ...selectors import reviews_of
from ..access import listing_page
from ..presenters import check_rows, finding_rows

ROWS = 10


@listing_page("GET")
def review_list(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """List the submissions with their outcomes, newest first."""
    after = request.GET.get("after", "")
    if after and not looks_like_id(after):
        raise Http404
    reviews = reviews_of(listing)
    found = list((reviews.filter(pk__lt=after) if after else reviews)[: ROWS + 1])
    shown = found[:ROWS]
    context = {
        "listing": listing,
        "rows": [(review, finding_rows(review.findings), check_rows(review.checks), review.snapshot.get("file")) for review in shown],
        "is_later_page": bool(after),
        "first": request.path,
        "next": f"{request.path}?after={shown[-1].pk}" if len(found) > ROWS else "",
    }
    return render(request, "studio/reviews.html", context)

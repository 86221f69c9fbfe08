"""One listing at a glance: where it stands, what is in order and what is not, and the next step."""

from django.http import HttpResponseBase
from django.shortcuts import render

from catalog.models import Listing
from marketplace.accounts.pages import SignedInRequest

from ..access import listing_page


@listing_page("GET")
def overview(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Show where the listing stands."""
    return render(request, "studio/overview.html", {"listing": listing})

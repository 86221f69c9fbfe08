"""The files of a listing: what buyers get, and what everyone may look at."""

from django.http import HttpResponseBase
from django.shortcuts import render

from catalog.models import Listing
from marketplace.accounts.pages import SignedInRequest

from ..access import listing_page


@listing_page("GET")
def files(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Show the listing's files and previews."""
    return render(request, "studio/files.html", {"listing": listing})

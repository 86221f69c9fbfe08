"""The page of the listing's AI manifest."""

import json

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render

from catalog.manifests import stored_manifest
from catalog.models import Listing
from catalog.models.listings import ListingStatus
from marketplace.accounts.pages import SignedInRequest

from ...errors import ListingLocked
from ...services.manifests import generate_manifest
from ..access import listing_page


@listing_page("GET", "POST")
def manifest(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Show the manifest, and generate it again."""
    if request.method == "POST":
        try:
            generate_manifest(listing=listing, actor=request.user)
        except ListingLocked:
            messages.error(request, "The listing is in review: withdraw it, or wait for the decision.")
        else:
            messages.success(request, "The manifest was generated from the current listing.")
        return redirect("studio-manifest", slug=listing.slug)
    stored, fresh = stored_manifest(listing)
    context = {
        "listing": listing,
        "manifest": stored,
        "fresh": fresh,
        "locked": listing.status == ListingStatus.PENDING_REVIEW,
        "guidance": [] if stored is None else stored.body["agentGuidance"].split("\n\n"),
        "text": "" if stored is None else json.dumps(stored.body, indent=2, ensure_ascii=False),
    }
    return render(request, "studio/manifest.html", context)

"""The vendor's listings: see them all, make another."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from catalog.models.listings import ListingStatus
from catalog.selectors import picture_of
from marketplace.accounts.pages import SignedInRequest, signed_in_page

from ...errors import VendorProfileMissing
from ...models import VendorProfile, VendorStatus
from ...selectors import listings_in_studio, profile_of, statuses_of
from ..forms import FilterForm

ROWS = 25


@signed_in_page("GET")
def listing_list(request: SignedInRequest) -> HttpResponseBase:
    """List the vendor's listings; tell those who cannot sell yet where they stand."""
    try:
        profile = profile_of(request.user)
    except VendorProfileMissing:
        return redirect("dashboard")
    if profile.status != VendorStatus.APPROVED:
        return render(request, "studio/standing.html", {"profile": profile})
    form = FilterForm(request.GET)
    if not form.is_valid():
        raise Http404
    return render(request, "studio/listings.html", {"profile": profile, "form": form, **_page(profile, **form.cleaned_data)})


def _page(profile: VendorProfile, *, q: str, status: str, after: Any) -> dict[str, Any]:
    found = list(listings_in_studio(profile, status=status, words=q, after=after)[: ROWS + 1])
    shown, more = found[:ROWS], len(found) > ROWS
    counts = statuses_of(profile)
    chosen = {name: value for name, value in (("q", q), ("status", status)) if value}
    return {
        "rows": [(listing, _picture(listing)) for listing in shown],
        "q": q,
        "status": status,
        "total": counts.total(),
        "tabs": [("", counts.total()), *((each.value, counts[each]) for each in ListingStatus)],
        "later": after is not None,
        "first": _address(chosen),
        "next": _address(chosen | {"after": shown[-1].pk}) if more else "",
    }


def _address(chosen: dict[str, Any]) -> str:
    return f"{reverse('studio')}?{urlencode(chosen)}" if chosen else reverse("studio")


def _picture(listing: Any) -> Any:
    return None if listing.picture_id is None else picture_of(listing.picture_id, listing.picture_details, listing.picture_renditions)

"""The list of the vendor's listings, and the page to create one."""

import uuid
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from catalog.models import Listing
from catalog.models.listings import ListingStatus
from catalog.pricing import current_price
from catalog.selectors.cards import Picture, picture_of
from marketplace.accounts.pages import SignedInRequest, live_check, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.money import Currency
from marketplace.review.appeals import appealable_decision

from ...errors import SlugTaken, VendorProfileMissing
from ...models import VendorProfile, VendorStatus
from ...selectors import decision_on, listing_counts_of, listings_in_studio, listings_of, profile_of, wait_of_profile
from ...services.listings import create_listing
from ..access import vendor_page
from ..fields import check_slug
from ..forms import FilterForm, NewListingForm

ROWS = 25


@signed_in_page("GET")
def listing_list(request: SignedInRequest) -> HttpResponseBase:
    """List the vendor's listings; users who are not approved vendors see the status of their store."""
    try:
        profile = profile_of(request.user)
    except VendorProfileMissing:
        return redirect("studio-apply")
    if profile.status != VendorStatus.APPROVED:
        context = {
            "profile": profile,
            "decision": decision_on(profile),
            "wait": wait_of_profile(profile),
            "appealable": appealable_decision(profile),
        }
        return render(request, "studio/store_status.html", context)
    form = FilterForm(request.GET)
    if not form.is_valid():
        raise Http404
    return render(request, "studio/listings.html", {"profile": profile, **_list_context(profile, **form.cleaned_data)})


@vendor_page("GET", "POST")
def create(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Create a draft."""
    form = NewListingForm(posted(request))
    if form.is_valid():
        with problems_as_form_errors(form, {SlugTaken: "slug"}):
            try:
                listing = create_listing(profile=profile, actor=request.user, **form.cleaned_data)
            except SlugTaken:
                if _is_sent_again(profile, form):
                    return redirect("studio-listing", slug=form.cleaned_data["slug"])
                raise
            messages.success(request, f"{listing.title} is a draft that is not on sale. Fill in the sections, then send it for review.")
            return redirect("studio-listing", slug=listing.slug)
    return render_form(request, "studio/create.html", form)


@live_check
@vendor_page("GET")
def slug_check(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Check whether a slug is available for a listing."""
    slug, title = (request.GET.get(name, "") for name in ("slug", "title"))
    check = check_slug(slug, title, prefix="/assets/", model=Listing)
    return render(request, "studio/slug_check_result.html", {"check": check})


def _is_sent_again(profile: VendorProfile, form: NewListingForm) -> bool:
    """Tell whether the same form created the listing a moment ago, because it was submitted twice."""
    return listings_of(profile).filter(status=ListingStatus.DRAFT, **form.cleaned_data).exists()


def _list_context(profile: VendorProfile, *, q: str, status: str, after: uuid.UUID | None) -> dict[str, Any]:
    found = list(listings_in_studio(profile, status=status, search=q, after=after)[: ROWS + 1])
    shown, more = found[:ROWS], len(found) > ROWS
    counts = listing_counts_of(profile)
    by_status = [("", counts.total()), *((each.value, counts[each]) for each in ListingStatus)]
    chosen = {"q": q, "status": status}
    return {
        "rows": [(listing, _picture(listing), current_price(listing, Currency.USD)) for listing in shown],
        "q": q,
        "status": status,
        "total": counts.total(),
        "tabs": [(value, count, _address({"q": q, "status": value})) for value, count in by_status],
        "is_later_page": after is not None,
        "first": _address(chosen),
        "next": _address(chosen | {"after": shown[-1].pk}) if more else "",
    }


def _address(chosen: dict[str, Any]) -> str:
    parameters = {name: value for name, value in chosen.items() if value}
    return f"{reverse('studio')}?{urlencode(parameters)}" if parameters else reverse("studio")


def _picture(listing: Any) -> Picture | None:
    return None if listing.picture_id is None else picture_of(listing.picture_id, listing.picture_details, listing.picture_renditions)

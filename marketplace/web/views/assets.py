"""A listing's page, also before it is for sale, the stylesheet of its type tester, and a vendor's page."""

import math
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from catalog.ai_use import LIST_PREFERENCE, training_sentence, usage_headers
from catalog.comparison.public import changes_of
from catalog.file_types import file_type_of, public_file_type
from catalog.filters import ListingFilter, Values
from catalog.models import Deliverable, Listing
from catalog.models.files import StorePictureKind, public_technical
from catalog.selectors.browse import CARDS, Sort, list_listings
from catalog.selectors.cards import card_of, open_store_by_slug
from catalog.selectors.listings import listing_on_sale, version_of_file
from marketplace.accounts.models import User
from marketplace.accounts.pages import SignedInRequest
from marketplace.core.money import Currency
from vendors.selectors import bio_of, pictures_of, small_picture_of
from vendors.studio.access import listing_page

from ..paging import page_links, page_number
from ..shop.contents import entries_of, skill_of, tracks_of
from ..shop.currency import currency_of, paying_currency, remember_currency
from ..shop.description import description_html
from ..shop.offer import AssetOffer, offer_of, samples_of
from ..shop.rate_limit import rate_limited
from ..shop.results import PAGE_SIZE
from ..shop.rights import RightsForm

HOUR = 60 * 60


@require_safe
def asset(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a listing with its samples, licences and prices."""
    viewer = request.user if isinstance(request.user, User) else None
    offer = offer_of(listing_on_sale(slug), viewer)
    listing, pictures = offer.listing, offer.samples.pictures
    file = listing.approved_deliverable
    context = _page_context(request, offer, file) | {
        "file_type": public_file_type(listing.file_type, listing.index.file_type),
        "is_own": viewer is not None and listing.store.owner_id == viewer.pk,
        "canonical": settings.BASE_URL + reverse("asset-page", args=[listing.slug]),
        "headline": listing.title,
        "image": next((settings.BASE_URL + whole.url for _, whole, _ in pictures), ""),
    }
    return remember_currency(request, _with_usage_headers(listing, render(request, "shop/asset.html", context)))


@listing_page("GET")
def draft(request: SignedInRequest, listing: Listing) -> HttpResponse:
    """Show the vendor a listing as buyers will see it, with the newest file, also one that is not approved."""
    offer = offer_of(listing, None)
    file = listing.candidate_deliverable or listing.approved_deliverable
    context = _page_context(request, offer, file) | {
        "file_type": public_file_type(listing.file_type, file_type_of(listing, file)),
        "is_own": True,
        "is_draft": True,
        "picture_route": "studio-preview-picture",
    }
    return render(request, "shop/asset.html", context)


def _page_context(request: HttpRequest, offer: AssetOffer, file: Deliverable | None) -> dict[str, Any]:
    return {
        "offer": offer,
        "listing": offer.listing,
        "picture_route": "asset-picture",
        "file": file,
        "version": offer.listing.version if file is None else version_of_file(file, offer.listing),
        "currency": currency_of(request),
        "currencies": list(Currency),
        "paying_currency": paying_currency(request),
        "technical": {} if file is None else public_technical(file.technical),
        "ai_training": training_sentence(offer.listing.ai_training),
        "description": offer.listing.short_description,
        "text": description_html(offer.listing.description),
        "rights_form": RightsForm(),
        "skill": skill_of(offer.listing, file),
        "tracks": tracks_of(file),
        "entries": entries_of(file),
    }


@require_safe
def picture(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show one picture of a listing in full size."""
    listing = listing_on_sale(slug)
    return _with_usage_headers(listing, _picture(request, listing, number, listing_route="asset-page", picture_route="asset-picture"))


@listing_page("GET")
def draft_picture(request: SignedInRequest, listing: Listing, number: int) -> HttpResponse:
    """Show the vendor one picture of a listing that is not for sale."""
    return _picture(request, listing, number, listing_route="studio-preview", picture_route="studio-preview-picture")


def _with_usage_headers(listing: Listing, response: HttpResponse) -> HttpResponse:
    """Return the response with the listing's AI usage preference."""
    for name, value in usage_headers(listing.ai_training).items():
        response[name] = value
    return response


def _picture(request: HttpRequest, listing: Listing, number: int, *, listing_route: str, picture_route: str) -> HttpResponse:
    pictures = samples_of(listing).pictures
    if not 1 <= number <= len(pictures):
        raise Http404
    _, whole, alt_text = pictures[number - 1]
    context = {"listing": listing, "number": number, "count": len(pictures), "picture": whole, "alt_text": alt_text}
    routes = {"listing_route": listing_route, "picture_route": picture_route}
    return render(request, "shop/picture.html", context | routes)


@require_safe
@rate_limited
def changes(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what changed in the newest version of a listing."""
    listing = listing_on_sale(slug)
    found = changes_of(listing)
    context = {
        "listing": listing,
        "earlier": found.from_version if "from_version" in found.model_fields_set else None,
        "later": found.to_version,
        "summary": found.summary,
        "canonical": settings.BASE_URL + reverse("asset-changes-page", args=[listing.slug]),
        "headline": f"What changed in {listing.title}",
        "description": f"What is new in the latest version of {listing.title} by {listing.store.name}.",
    }
    return render(request, "shop/changes.html", context)


@require_safe
def specimen(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a stylesheet with the fonts of the listing's type tester: subsets or the public sample, never the file for sale."""
    listing = listing_on_sale(slug)
    tester = samples_of(listing).tester
    if tester is None:
        raise Http404
    caching = {"Cache-Control": f"public, max-age={HOUR}"}
    return _with_usage_headers(listing, HttpResponse(tester.stylesheet, content_type="text/css; charset=utf-8", headers=caching))


@require_safe
def store(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a vendor's listings, the newest first."""
    found = open_store_by_slug(slug)
    number = page_number(request)
    given = {"vendor": Values((slug,))}
    listings = ListingFilter.matching(CARDS, given)
    page = list_listings(listings, given, sort=Sort.NEWEST, start=(number - 1) * PAGE_SIZE, limit=PAGE_SIZE)
    pages = math.ceil(page.total.count / PAGE_SIZE)
    address = reverse("store", args=[slug])
    context = {
        "store": found,
        "bio": bio_of(found),
        "logo": small_picture_of(found, StorePictureKind.LOGO),
        "banner": pictures_of(found).get(StorePictureKind.BANNER),
        "total": page.total,
        "cards": [card_of(row) for row in page.rows],
        "currency": currency_of(request),
        "current": number,
        "pages": page_links(number, pages, lambda each: f"{address}?page={each}"),
        "canonical": settings.BASE_URL + address,
        "headline": found.name,
        "description": f"Assets by {found.name}: reviewed, with clear licences and prices.",
    }
    response = render(request, "shop/store.html", context)
    response.headers["Content-Usage"] = LIST_PREFERENCE
    return remember_currency(request, response)

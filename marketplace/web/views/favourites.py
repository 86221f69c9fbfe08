"""The listings that a user keeps for later."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from catalog.models import Listing
from catalog.selectors.cards import cards_of
from catalog.selectors.listings import listing_on_sale
from library.errors import TooManyFavourites
from library.selectors import favourites_page
from library.services.favourites import add_favourite, remove_favourite
from marketplace.accounts.pages import SignedInRequest, signed_in_page

from ..paging import cursor_context, cursor_of
from ..shop.currency import currency_of

ROWS = 24


@signed_in_page("GET")
def favourites(request: SignedInRequest) -> HttpResponseBase:
    """List the user's favourites, newest first."""
    with cursor_of(request) as cursor:
        count, page = favourites_page(request.user, limit=ROWS, cursor=cursor)
    cards = {card["listing_id"]: card for card in cards_of(row.listing_id for row in page.rows)}
    context = {
        "count": count,
        "rows": [(row.listing, cards.get(row.listing_id)) for row in page.rows],
        "currency": currency_of(request),
        **cursor_context(request, page),
    }
    return render(request, "buyer/favourites.html", context)


@signed_in_page("GET", "POST")
def add(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Add a listing on sale; a GET, as after signing in, returns to the listing."""
    if request.method == "POST":
        listing = listing_on_sale(slug)
        try:
            add_favourite(listing=listing, actor=request.user)
        except TooManyFavourites as problem:
            messages.error(request, f"{problem.title}. {problem.message}")
        else:
            messages.success(request, f"{listing.title} is in your favourites.")
    return redirect("asset-page", slug=slug)


@signed_in_page("POST")
def remove(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Remove a listing and return to the page of the form, if it is still there."""
    kept = request.user.favourites.values("listing")
    listing = get_object_or_404(Listing.objects.select_related("store"), slug=slug, pk__in=kept)
    remove_favourite(listing=listing, actor=request.user)
    messages.success(request, f"{listing.title} is no longer in your favourites.")
    to_list = request.POST.get("from") == "favourites" or not listing.is_on_sale
    return redirect("favourites") if to_list else redirect("asset-page", slug=slug)

"""The page of a listing's discounts."""

import uuid

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from catalog.models import Listing
from marketplace.accounts.pages import SignedInRequest, posted, render_form
from marketplace.core.errors import NotFound, Problem

from ...selectors import discounts_of
from ...services.discounts import add_discount, end_discount
from ..access import listing_page
from ..forms import DiscountForm

ROWS = 50


@listing_page("GET", "POST")
def discounts(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """List the discounts, and add one."""
    form = DiscountForm(posted(request))
    if form.is_valid():
        try:
            add_discount(listing=listing, actor=request.user, **form.cleaned_data)
        except NotFound:
            raise
        except Problem as problem:
            form.add_error(None, problem.message)
        else:
            messages.success(request, "The discount was added.")
            return redirect("studio-discounts", slug=listing.slug)
    return render_form(request, "studio/discounts.html", form, listing=listing, discounts=discounts_of(listing)[:ROWS])


@listing_page("POST")
def end(request: SignedInRequest, listing: Listing, discount_id: uuid.UUID) -> HttpResponseBase:
    """End a discount now."""
    end_discount(listing=listing, discount_id=discount_id, actor=request.user)
    messages.success(request, "The discount was ended.")
    return redirect("studio-discounts", slug=listing.slug)

"""The pages of a listing's sections: details, prices, licences."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from catalog.models import Listing
from catalog.models.listings import ListingStatus
from catalog.selectors.taxonomy import every_tier
from marketplace.accounts.pages import SignedInRequest, live_check, posted, render_form

from ...errors import AiPartsMismatch, ListingChanged, ListingLocked, SlugLocked, SlugTaken
from ...selectors import own_listing
from ...services.editing import edit_listing
from ..access import listing_page
from ..presenters import proceeds_of
from ..section_forms import LicencesForm, PricesForm, SectionForm, details_form

LOCKED = "The listing is under review, so nothing was saved. Withdraw it to keep editing; what you typed is still here."


@listing_page("GET", "POST")
def details(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Edit the details."""
    return _section(request, listing, details_form(posted(request), listing=listing), "details")


@listing_page("GET", "POST")
def prices(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Edit the prices, with a preview of how they are split."""
    form = PricesForm(posted(request), listing=listing)
    return _section(request, listing, form, "prices", proceeds=proceeds_of(listing))


@live_check
@listing_page("POST")
def split(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Show the split at the prices that are being typed; nothing is saved."""
    form = PricesForm(request.POST, listing=listing)
    form.is_valid()
    for name in form.names:
        # A field that is invalid, because it is still being typed, counts with its saved value.
        setattr(listing, name, form.cleaned_data.get(name, getattr(listing, name)))
    return render(request, "studio/split.html", {"listing": listing, "proceeds": proceeds_of(listing), "typed": True})


@listing_page("GET", "POST")
def licences(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Edit the permitted licence tiers and the readme."""
    form = LicencesForm(posted(request), listing=listing, tiers=every_tier())
    return _section(request, listing, form, "licences")


def _section(request: SignedInRequest, listing: Listing, form: SectionForm, section: str, **context: Any) -> HttpResponse:
    """Save the section and redirect to it; if it cannot be saved, show it again with the typed values."""
    locked = listing.status == ListingStatus.PENDING_REVIEW
    if form.is_valid():
        try:
            saved = edit_listing(listing=listing, actor=request.user, seen=form.cleaned_data["seen"], **form.values())
        except ListingLocked:
            locked = True
            form.add_error(None, LOCKED)
        except ListingChanged as conflict:
            _show_conflict(form, conflict, request, listing)
        except (SlugLocked, SlugTaken) as problem:
            form.add_error("slug", problem.message)
        except AiPartsMismatch as problem:
            form.add_error("ai_parts", problem.message)
        else:
            published = saved.status == ListingStatus.PUBLISHED
            messages.success(request, "Saved. Buyers see it now." if published else "Saved.")
            return redirect(f"studio-{section}", slug=saved.slug)
    elif locked and not form.is_bound:
        form.lock()
    return render_form(request, f"studio/{section}.html", form, listing=listing, locked=locked, **context)


def _show_conflict(form: SectionForm, conflict: ListingChanged, request: SignedInRequest, listing: Listing) -> None:
    names: list[str] = conflict.members["fields"]
    form.show_conflicts(names, own_listing(request.user, listing.slug))
    form.add_error(
        None, forms.ValidationError("Not saved: the listing has changed in the meantime. Check the marked fields, then save again.")
    )

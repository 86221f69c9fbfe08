"""The vendor's store: the application, and the settings."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render

from marketplace.accounts.pages import SignedInRequest, live_check, problems_as_form_errors, render_form, signed_in_page

from ...errors import StoreSlugTaken, VendorProfileExists, VendorProfileMissing
from ...models import VendorProfile, VendorStatus
from ...selectors import profile_of, store_slug_taken
from ...services import profiles
from ..access import vendor_page
from ..fields import address_of
from ..forms import StoreApplicationForm, StoreForm


@signed_in_page("GET", "POST")
def apply(request: SignedInRequest) -> HttpResponseBase:
    """Apply for a store."""
    if _has_profile(request):
        return redirect("studio")
    form = StoreApplicationForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        links = form.cleaned_data["links"]
        with problems_as_form_errors(form, {StoreSlugTaken: "store_slug"}):
            try:
                profile = profiles.apply(
                    user=request.user,
                    store_name=form.cleaned_data["store_name"],
                    store_slug=form.cleaned_data["store_slug"],
                    bio=form.cleaned_data["bio"],
                    application_data={"links": links} if links else {},
                    actor=request.user,
                )
            except VendorProfileExists:
                # The form was submitted twice; the first submission counts.
                return redirect("studio")
            _welcome(request, profile)
            return redirect("studio")
    return render_form(request, "studio/apply.html", form)


@vendor_page("GET", "POST")
def settings(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Edit the store's name and description."""
    known = {"store_name": profile.store.name, "bio": profile.bio}
    form = StoreForm(request.POST if request.method == "POST" else None, initial=known)
    if form.is_valid():
        with problems_as_form_errors(form):
            profiles.update_store(profile=profile, actor=request.user, **form.cleaned_data)
            messages.success(request, "Saved. Buyers see it now.")
            return redirect("studio-store")
    return render_form(request, "studio/store.html", form, profile=profile)


@live_check
@signed_in_page("GET")
def address(request: SignedInRequest) -> HttpResponseBase:
    """Check whether a slug is available for a store."""
    slug, title = (request.GET.get(name, "") for name in ("store_slug", "store_name"))
    found = address_of(slug, title, prefix="/stores/", taken=store_slug_taken)
    return render(request, "studio/address.html", {"address": found})


def _has_profile(request: SignedInRequest) -> bool:
    try:
        profile_of(request.user)
    except VendorProfileMissing:
        return False
    return True


def _welcome(request: SignedInRequest, profile: VendorProfile) -> None:
    if profile.status == VendorStatus.APPROVED:
        messages.success(request, f"{profile.store.name} is open. Create your first listing.")
    else:
        messages.success(request, "Your application is with our reviewers. You get a mail when they have decided.")

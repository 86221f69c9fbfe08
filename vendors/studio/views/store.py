"""The vendor's store: the application, and the settings."""

from collections.abc import Mapping
from contextlib import suppress

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.csrf import csrf_failure
from django.views.decorators.csrf import csrf_exempt

from catalog.models import Store
from catalog.models.files import StorePictureKind
from catalog.selectors.cards import Picture
from marketplace.accounts.pages import SignedInRequest, live_check, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.errors import NotFound, Problem

from ...errors import ListingChanged, StoreSlugTaken, VendorNotApproved, VendorProfileExists
from ...form_uploads import receive_store_picture
from ...models import VendorProfile, VendorStatus
from ...selectors import small_picture_of
from ...services import profiles
from ...services.store_pictures import remove_store_picture
from ..access import vendor_page
from ..fields import check_slug
from ..forms import StoreApplicationForm, StoreSettingsForm
from ..upload_fields import UploadField, message_for, store_field
from ..uploading import FormRefused, checked_form


@signed_in_page("GET", "POST")
def apply(request: SignedInRequest) -> HttpResponseBase:
    """Apply for a store."""
    if VendorProfile.objects.filter(user=request.user).exists():
        return redirect("studio")
    form = StoreApplicationForm(posted(request))
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
            if profile.status == VendorStatus.APPROVED:
                messages.success(request, f"{profile.store.name} is open. Create your first listing.")
            else:
                messages.success(request, "Your application is with our reviewers. You get an email when they have decided.")
            return redirect("studio")
    return render_form(request, "studio/apply.html", form)


@vendor_page("GET", "POST")
def edit(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Edit the store's name and description."""
    form = StoreSettingsForm(posted(request), profile=profile)
    if form.is_valid():
        with problems_as_form_errors(form):
            try:
                profiles.update_store(profile=profile, actor=request.user, **form.cleaned_data)
            except ListingChanged:
                form.show_conflict(VendorProfile.objects.select_related("store").get(pk=profile.pk))
            else:
                messages.success(request, "Saved. Buyers see it now.")
                return redirect("studio-store")
    return render_form(request, "studio/store.html", form, profile=profile, pictures=_pictures(profile))


# Exempt, because Django's CSRF check would parse the form, with the file, before the view: `checked_form` makes the check.
@csrf_exempt
@vendor_page("POST")
def upload_picture(request: SignedInRequest, profile: VendorProfile, kind: str) -> HttpResponseBase:
    """Upload the logo or the banner."""
    try:
        receive_store_picture(request, profile, StorePictureKind(kind), request.user, checked_form)
    except FormRefused as refusal:
        return csrf_failure(request, reason=str(refusal))
    except VendorNotApproved:
        # `ProblemMiddleware` answers it.
        raise
    except Problem as problem:
        context = {
            "form": StoreSettingsForm(profile=profile),
            "profile": profile,
            "pictures": _pictures(profile, errors={kind: message_for(problem)}),
        }
        return render(request, "studio/store.html", context, status=problem.status)
    messages.success(request, f"The {kind.lower()} was added. Buyers see it now.")
    return redirect("studio-store")


@vendor_page("POST")
def remove_picture(request: SignedInRequest, profile: VendorProfile, kind: str) -> HttpResponseBase:
    """Remove the logo or the banner."""
    # It may have been removed already, in another window.
    with suppress(NotFound):
        remove_store_picture(profile=profile, kind=StorePictureKind(kind), actor=request.user)
    messages.success(request, f"The {kind.lower()} is removed.")
    return redirect("studio-store")


@live_check
@signed_in_page("GET")
def slug_check(request: SignedInRequest) -> HttpResponseBase:
    """Check whether a slug is available for a store."""
    slug, title = (request.GET.get(name, "") for name in ("store_slug", "store_name"))
    check = check_slug(slug, title, prefix="/stores/", model=Store)
    return render(request, "studio/slug_check_result.html", {"check": check})


def _pictures(profile: VendorProfile, errors: Mapping[str, str] | None = None) -> list[tuple[UploadField, Picture | None, str]]:
    """Return the upload field, the picture and the URL that removes it, for each kind of picture; `errors` are those of uploads by kind."""
    rows = []
    for kind in StorePictureKind:
        picture, name = small_picture_of(profile.store, kind), kind.value.lower()
        label = f"{'Replace' if picture else 'Add'} the {name}"
        rows.append((store_field(kind, label, (errors or {}).get(kind, "")), picture, reverse(f"studio-{name}-remove")))
    return rows

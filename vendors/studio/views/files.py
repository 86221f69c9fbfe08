"""The page of a listing's deliverable and previews. Its plain forms do without JavaScript what its script does through the API."""

import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.csrf import csrf_failure
from django.views.decorators.csrf import csrf_exempt

from catalog import bounds as catalog_bounds
from catalog.font_tester import type_tester_of
from catalog.models import Listing, Preview
from catalog.models.files import PreviewKind
from catalog.selectors.listings import file_previews_of
from marketplace.accounts.pages import SignedInRequest
from marketplace.core.errors import NotFound, Problem
from marketplace.http.pages import IMAGE_PREVIEW_POLICY, POLICY_HEADER

from ...errors import ListingChanged
from ...form_uploads import receive_deliverable, receive_preview
from ...selectors import own_listing, preview_of, unfinished_uploads_of_listing
from ...services import files as file_services
from ...services.listings import ensure_editable
from ...services.pictures import update_picture
from ...services.uploads import discard_upload
from ..access import listing_page
from ..files_page import PAGE, FilesPage, Notice
from ..picture_forms import AltTextForm, MoveForm
from ..upload_fields import FILE, PICTURE, SOUND, SPECIMEN, message_for, picture_name, slot_name
from ..uploading import FormRefused, checked_form

PREVIEWS = {
    PICTURE: (PreviewKind.GALLERY, "was added."),
    SPECIMEN: (PreviewKind.FONT_SPECIMEN, "was added to the type tester."),
    SOUND: (PreviewKind.AUDIO_PREVIEW, "was added to the player."),
}
GONE = "This picture was replaced or removed in the meantime."


@listing_page("GET")
def files(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Show the listing's files and previews."""
    return _page(request, listing)


# Exempt, because Django's CSRF check would parse the form, with the file, before the view: `checked_form` makes the check.
@csrf_exempt
@listing_page("POST")
def upload_file(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Upload a new deliverable."""

    def change() -> Notice:
        file = receive_deliverable(request, listing, request.user, checked_form)
        return Notice(FILE, f"{file.original_filename} was uploaded and checked.")

    return _respond(request, listing, FILE, change)


@csrf_exempt
@listing_page("POST")
def upload_preview(request: SignedInRequest, listing: Listing, upload_kind: str, slot: int = 0) -> HttpResponseBase:
    """Upload a gallery image, a specimen or an audio preview."""
    if slot >= catalog_bounds.GALLERY_SLOTS:
        raise Http404
    kind, done = PREVIEWS[upload_kind]

    def change() -> Notice:
        ensure_editable(listing)
        preview = receive_preview(request, listing, kind, request.user, slot=slot, reader=checked_form)
        return _notice_about(preview, done)

    return _respond(request, listing, slot_name(slot) if upload_kind == PICTURE else upload_kind, change)


@listing_page("POST")
def discard_file(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Discard the file that is not approved yet."""

    def change() -> Notice:
        with suppress(NotFound):
            file_services.discard_candidate(listing=listing, actor=request.user)
        return Notice(FILE, "The file was removed.")

    return _respond(request, listing, PAGE, change)


@listing_page("POST")
def remove_upload(request: SignedInRequest, listing: Listing, upload_id: uuid.UUID) -> HttpResponseBase:
    """Delete an unfinished upload."""
    upload = get_object_or_404(unfinished_uploads_of_listing(listing), pk=upload_id)
    discard_upload(upload=upload, actor=request.user)
    return _redirect(request, listing, Notice(FILE, f"The upload of {upload.filename} was removed."))


@listing_page("POST")
def remove_preview(request: SignedInRequest, listing: Listing, preview_id: uuid.UUID) -> HttpResponseBase:
    """Remove a preview."""

    def change() -> Notice:
        try:
            preview = file_services.remove_preview(listing=listing, preview_id=preview_id, actor=request.user)
        except NotFound:
            return Notice("previews", "It was removed or replaced already, in another window.")
        return _notice_about(preview, "was removed.")

    return _respond(request, listing, PAGE, change)


@listing_page("POST")
def describe_picture(request: SignedInRequest, listing: Listing, preview_id: uuid.UUID) -> HttpResponseBase:
    """Set the alternative text of an image."""
    form = AltTextForm(request.POST, preview_id=preview_id)
    if form.is_valid():
        text = form.cleaned_data["alt_text"]

        def change() -> Notice:
            picture = update_picture(listing=listing, preview_id=preview_id, actor=request.user, **form.cleaned_data)
            return Notice(slot_name(picture.slot), f"The description of {_in_sentence(picture.slot)} was saved.")

        try:
            return _respond(request, listing, PAGE, change, gone=f"{GONE} Your description was: “{text}”" if text else GONE)
        except ListingChanged:
            form.show_conflict(preview_of(listing, preview_id).alt_text)
    return _page(request, listing, typed={preview_id: form}, status=400)


@listing_page("POST")
def move_picture(request: SignedInRequest, listing: Listing, preview_id: uuid.UUID) -> HttpResponseBase:
    """Move an image to another slot, swapping it with the image that is there."""
    form = MoveForm(request.POST)
    if not form.is_valid():
        raise Http404

    def change() -> Notice:
        picture = update_picture(listing=listing, preview_id=preview_id, actor=request.user, slot=form.cleaned_data["slot"])
        return Notice(slot_name(picture.slot), f"The picture was moved: it is {_in_sentence(picture.slot)} now.")

    return _respond(request, listing, PAGE, change, gone=GONE)


@listing_page("GET")
def specimen(request: SignedInRequest, listing: Listing) -> HttpResponseBase:
    """Serve the CSS of the type testers of a listing, also of a listing that is not public: of the specimen, and of the approved file."""
    preview = listing.previews.filter(kind=PreviewKind.FONT_SPECIMEN).first()
    testers = [tester for tester in (type_tester_of(preview), type_tester_of(None, file_previews_of(listing))) if tester is not None]
    if not testers:
        raise Http404
    return HttpResponse("".join(tester.stylesheet for tester in testers), content_type="text/css; charset=utf-8")


def _in_sentence(slot: int) -> str:
    return f"picture {slot + 1}" if slot else "the cover picture"


def _notice_about(preview: Preview, done: str) -> Notice:
    upload_kind = next(upload_kind for upload_kind, (kind, _) in PREVIEWS.items() if kind == preview.kind)
    if upload_kind == PICTURE:
        return Notice(slot_name(preview.slot), f"{picture_name(preview.slot)} {done}")
    return Notice(upload_kind, f"The {upload_kind} {done}")


def _respond(request: SignedInRequest, listing: Listing, anchor: str, change: Callable[[], Notice], gone: str = "") -> HttpResponseBase:
    """Run `change` and redirect to the page with its message, or show the page with the error beside the field of the anchor.

    `gone` is what the page says where the image that is changed no longer exists.
    """
    try:
        done = change()
    except FormRefused as refusal:
        return csrf_failure(request, reason=str(refusal))
    except ListingChanged:
        raise
    except Problem as problem:
        message = gone if gone and isinstance(problem, NotFound) else message_for(problem)
        return _refuse(request, listing, Notice(anchor, message), problem.status)
    return _redirect(request, listing, done)


def _redirect(request: SignedInRequest, listing: Listing, done: Notice) -> HttpResponseBase:
    messages.success(request, done.message, extra_tags=done.anchor)
    return redirect(f"{reverse('studio-files', args=[listing.slug])}#{done.anchor}")


def _refuse(request: SignedInRequest, listing: Listing, refusal: Notice, status: int) -> HttpResponseBase:
    # Read again, because it may have come under review in the meantime.
    listing = own_listing(request.user, listing.slug)
    return _page(request, listing, refusal, status=status)


def _page(
    request: SignedInRequest,
    listing: Listing,
    refusal: Notice | None = None,
    typed: Mapping[uuid.UUID, AltTextForm] | None = None,
    status: int = 200,
) -> HttpResponseBase:
    context = {"page": FilesPage(listing, refusal or Notice(), typed or {}), "listing": listing, "tab": "studio-files"}
    response = render(request, "studio/files.html", context, status=status)
    # The page's script shows a local preview of an image while it is being uploaded.
    response[POLICY_HEADER] = IMAGE_PREVIEW_POLICY
    return response

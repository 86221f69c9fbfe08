"""Uploads by a form, for the API and the studio: each is received, checked and recorded."""

from django.http import HttpRequest

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, Listing, Preview, StorePicture
from catalog.models.files import PreviewKind, StorePictureKind
from marketplace.accounts.models import User

from . import bounds
from .inspection import inspect_deliverable
from .models import VendorProfile
from .previews import MAXIMUM_BYTES, process_preview
from .services.files import attach_deliverable, attach_preview, check_room_for_file, ensure_uploadable, new_deliverable_key
from .services.store_pictures import attach_store_picture
from .uploads.receiving import FormReader, announced_size, bare_form, receive, receive_small


def receive_deliverable(request: HttpRequest, listing: Listing, actor: User, reader: FormReader = bare_form) -> Deliverable:
    """Receive and inspect a deliverable, and record it as the listing's candidate. What can be refused without its body is refused before.

    Raises what `receive`, `inspect_deliverable` and `attach_deliverable` raise.
    """
    ensure_uploadable(listing)
    check_room_for_file(listing=listing, size=announced_size(request))
    with receive(request, key=new_deliverable_key(), maximum_bytes=catalog_bounds.DELIVERABLE_BYTES, reader=reader) as received:
        inspection = inspect_deliverable(storage=received.storage, key=received.key, size=received.size, sender=str(actor.pk))
        return attach_deliverable(listing=listing, received=received, inspection=inspection, actor=actor)


def receive_preview(
    request: HttpRequest, listing: Listing, kind: PreviewKind, actor: User, *, slot: int, reader: FormReader = bare_form
) -> Preview:
    """Receive a preview, make it safe to publish, and store it.

    Raises what `receive_small`, `process_preview` and `attach_preview` raise.
    """
    content = receive_small(request, maximum_bytes=MAXIMUM_BYTES[kind], reader=reader)
    processed = process_preview(kind, content, str(actor.pk))
    return attach_preview(listing=listing, kind=kind, slot=slot, processed=processed, actor=actor)


def receive_store_picture(
    request: HttpRequest, profile: VendorProfile, kind: StorePictureKind, actor: User, reader: FormReader = bare_form
) -> StorePicture:
    """Receive a picture of a store, make it safe to publish as a gallery image is, and store it.

    Raises what `receive_small`, `process_preview` and `attach_store_picture` raise.
    """
    content = receive_small(request, maximum_bytes=bounds.IMAGE_BYTES, reader=reader)
    processed = process_preview(PreviewKind.GALLERY, content, str(actor.pk))
    return attach_store_picture(profile=profile, kind=kind, processed=processed, actor=actor)

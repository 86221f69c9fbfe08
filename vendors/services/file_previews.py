"""Previews that the service makes of an approved file."""

import logging
import uuid
from collections.abc import Sequence

from django.db import transaction

from catalog.models import Deliverable, FilePreview, Listing
from marketplace.core.errors import UnsupportedType
from marketplace.core.ids import new_id
from marketplace.core.transitions import lock
from marketplace.storage import default_storage

from ..errors import FileRejected
from ..file_previews import PreviewOfKind, previews_of_file
from .files import PREVIEWS, contents_of, delete_after_commit, keys_of, object_fields, stored_objects

logger = logging.getLogger(__name__)


def make_file_previews(*, listing_id: uuid.UUID) -> None:
    """Make the previews of a published listing's file unless they are there, and delete those of its earlier files."""
    listing = Listing.objects.select_related("approved_deliverable__listing__category").filter(pk=listing_id).first()
    # None also if the listing was deleted with its vendor's account.
    file = None if listing is None else listing.approved_deliverable
    if file is None or file.blocked_at is not None or file.file_previews.exists():
        return
    try:
        made = previews_of_file(file, default_storage)
    except (FileRejected, UnsupportedType) as refusal:
        # A further attempt would end like this one.
        logger.warning("no previews of %s: %s", file.pk, refusal.message)
        made = []
    attach_file_previews(deliverable=file, made=made)


def attach_file_previews(*, deliverable: Deliverable, made: Sequence[PreviewOfKind]) -> None:
    """Store the previews of a listing's approved file in place of those of all its files; do nothing if another file has been approved meanwhile."""
    contents: dict[str, tuple[bytes, str]] = {}
    previews = []
    for position, (kind, processed) in enumerate(made):
        preview_id = new_id()
        fields = object_fields(processed, f"{PREVIEWS}{preview_id}")
        previews.append(FilePreview(pk=preview_id, deliverable=deliverable, kind=kind, position=position, **fields))
        contents |= contents_of(previews[-1], processed)
    with stored_objects(contents), transaction.atomic():
        listing = lock(Listing.objects.all(), pk=deliverable.listing_id)
        if listing.approved_deliverable_id != deliverable.pk:
            delete_after_commit(*contents)
            return
        earlier = list(FilePreview.objects.filter(deliverable__listing=listing))
        FilePreview.objects.filter(pk__in=[preview.pk for preview in earlier]).delete()
        FilePreview.objects.bulk_create(previews)
        delete_after_commit(*(key for preview in earlier for key in keys_of(preview)))

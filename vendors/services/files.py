"""A listing's files: the record of a stored deliverable, and previews with their objects.

Objects are written before the transaction and removed after it: no row ever names bytes that are not there, and what a
refused or replaced upload left is removed.
"""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256

from django.db import InterfaceError, OperationalError, transaction

from catalog.models import Deliverable, Listing, Preview
from catalog.models.files import PreviewKind
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.services.visibility import listing_edited
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import NotFound
from marketplace.core.ids import new_id
from marketplace.core.objects import object_store
from marketplace.core.objects.base import ObjectStore

from ..errors import ListingLocked, ThumbnailNeeded, UploadConflict, VendorNotApproved
from ..inspection import Inspection
from ..previews import ProcessedPreview
from ..selectors import preview_of
from ..uploads import Received
from .listings import ensure_editable, lock_editable


def new_deliverable_key() -> str:
    """Return a key under which nothing is stored."""
    return f"deliverables/{new_id()}"


def ensure_uploadable(listing: Listing) -> None:
    """Refuse a new deliverable while a reviewer looks at the present one.

    Raises:
        ListingLocked: the listing, or the update of a published one, is under review.
    """
    ensure_editable(listing)
    if listing.update_status == UpdateStatus.PENDING_REVIEW:
        raise ListingLocked(currentState=listing.update_status)


def attach_deliverable(*, listing: Listing, received: Received, inspection: Inspection, actor: User) -> Deliverable:
    """Record a stored file as what the next review is about; a candidate that no one approved makes way for it.

    Approved files stay: they are versions that buyers own. So do blocked ones, as evidence.

    Args:
        listing: As it was when the upload began.
        received: The file, kept once the record is committed.
        inspection: What was found in it.
        actor: The vendor.

    Raises:
        ListingLocked: the listing came under review meanwhile.
        UploadConflict: another file was accepted meanwhile.
        VendorNotApproved: the vendor was suspended meanwhile.
    """
    seen, fingerprint = listing.candidate_deliverable_id, received.store.fingerprint(received.key)
    with transaction.atomic():
        listing = lock_for_upload(listing)
        ensure_uploadable(listing)
        if listing.candidate_deliverable_id != seen:
            raise UploadConflict
        previous = listing.candidate_deliverable
        deliverable = Deliverable.objects.create(
            listing=listing,
            object_key=received.key,
            original_filename=received.filename,
            file_size=received.size,
            sha256=received.sha256,
            crc32=received.crc32,
            format=inspection.format,
            technical=inspection.technical,
            fingerprint=fingerprint,
            entries=list(inspection.entries),
        )
        listing.candidate_deliverable = deliverable
        listing.save(update_fields=["candidate_deliverable"])
        if previous is not None and not previous.is_kept:
            previous.delete()
            _delete_after_commit(received.store, previous.object_key)
        audit.record(
            "listing.upload_file",
            listing,
            actor=actor,
            file=str(deliverable.pk),
            sha256=deliverable.sha256,
            replaced=None if previous is None else previous.sha256,
        )
    received.keep()
    return deliverable


def attach_preview(*, listing: Listing, kind: PreviewKind, processed: ProcessedPreview, actor: User, slot: int = 0) -> Preview:
    """Store a processed preview in its place, in the stead of the one that is there.

    Raises:
        ListingLocked: the listing came under review meanwhile.
        VendorNotApproved: the vendor was suspended meanwhile.
    """
    store, preview_id = object_store(), new_id()
    preview = _made_of(processed, f"previews/{preview_id}")
    preview.pk, preview.kind, preview.slot = preview_id, kind, slot
    contents = {preview.object_key: (processed.content, processed.content_type)}
    contents |= {preview.renditions[name]["key"]: (copy.content, copy.content_type) for name, copy in processed.renditions.items()}
    with _stored(store, contents), transaction.atomic():
        listing = lock_for_upload(listing)
        previous = Preview.objects.filter(listing=listing, kind=kind, slot=slot).first()
        if previous is not None:
            # The same picture once more shows what it showed.
            preview.alt_text = previous.alt_text if previous.sha256 == preview.sha256 else ""
            Preview.objects.filter(pk=previous.pk).delete()
            _delete_after_commit(store, *keys_of(previous))
        preview.listing = listing
        preview.save(force_insert=True)
        # What buyers see of it has changed.
        listing.save(update_fields=["updated_at"])
        audit.record("listing.upload_preview", listing, actor=actor, kind=kind, slot=slot, preview=str(preview.pk), sha256=preview.sha256)
        if listing.status == ListingStatus.PUBLISHED:
            listing_edited(listing)
    return preview


@transaction.atomic
def discard_candidate(*, listing: Listing, actor: User) -> Deliverable:
    """Take back the file that the next review would be about. What buyers get stays, and so does a blocked file, as evidence.

    Raises:
        ListingLocked: a reviewer looks at it.
        NotFound: there is none.
        VendorNotApproved: the vendor was suspended meanwhile.
    """
    listing = lock_for_upload(listing)
    ensure_uploadable(listing)
    candidate = listing.candidate_deliverable
    if candidate is None:
        raise NotFound
    listing.candidate_deliverable = None
    listing.save(update_fields=["candidate_deliverable"])
    if not candidate.is_kept:
        Deliverable.objects.filter(pk=candidate.pk).delete()
        _delete_after_commit(object_store(), candidate.object_key)
    audit.record("listing.discard_file", listing, actor=actor, file=str(candidate.pk), sha256=candidate.sha256)
    return candidate


@transaction.atomic
def remove_preview(*, listing: Listing, preview_id: uuid.UUID | None, actor: User) -> Preview:
    """Remove a preview, with its objects once that is certain.

    Raises:
        ListingLocked: the listing is under review.
        NotFound: it is not there, or is another listing's.
        ThumbnailNeeded: it is the picture on the card of a published listing.
        VendorNotApproved: the vendor was suspended meanwhile.
    """
    listing = lock_for_upload(listing)
    preview = preview_of(listing, preview_id)
    published = listing.status == ListingStatus.PUBLISHED
    if published and preview.kind == PreviewKind.GALLERY and preview.slot == 0:
        raise ThumbnailNeeded
    Preview.objects.filter(pk=preview.pk).delete()
    _delete_after_commit(object_store(), *keys_of(preview))
    listing.save(update_fields=["updated_at"])
    audit.record("listing.remove_preview", listing, actor=actor, kind=preview.kind, slot=preview.slot, sha256=preview.sha256)
    if published:
        listing_edited(listing)
    return preview


def keys_of(preview: Preview) -> list[str]:
    """Return the keys of everything that is stored for a preview."""
    return [preview.object_key, *(copy["key"] for copy in preview.renditions.values())]


def _made_of(processed: ProcessedPreview, key: str) -> Preview:
    renditions = {
        name: {
            "key": f"{key}.{name}",
            "size": len(copy.content),
            "sha256": sha256(copy.content).hexdigest(),
            "contentType": copy.content_type,
            "width": copy.width,
            "height": copy.height,
        }
        for name, copy in processed.renditions.items()
    }
    return Preview(
        object_key=key,
        content_type=processed.content_type,
        size=len(processed.content),
        sha256=sha256(processed.content).hexdigest(),
        details=processed.details,
        renditions=renditions,
    )


def lock_for_upload(listing: Listing) -> Listing:
    """Return the listing locked; the body may have taken hours, so everything is asked again."""
    listing = lock_editable(listing)
    if not listing.store.is_open:
        raise VendorNotApproved
    return listing


@contextmanager
def _stored(store: ObjectStore, contents: Mapping[str, tuple[bytes, str]]) -> Iterator[None]:
    """Write the objects; they are gone again when the block fails."""
    try:
        for key, (content, content_type) in contents.items():
            writer = store.create(key, content_type=content_type)
            try:
                writer.write(content)
                writer.commit()
            finally:
                writer.abort()
        yield
    except (OperationalError, InterfaceError):
        # A database that went away during the commit may have the record: only the sweep can tell.
        raise
    except BaseException:
        for key in contents:
            store.delete(key)
        raise


def _delete_after_commit(store: ObjectStore, *keys: str) -> None:
    """Remove objects that no row names any more; one that cannot be removed is logged and undoes nothing."""
    for key in keys:
        # A named function: Django's log of a robust callback's failure asks for its name.
        def delete(key: str = key) -> None:
            store.delete(key)

        transaction.on_commit(delete, robust=True)

"""A listing's files: the record of a stored deliverable, and previews with their objects.

Objects are written before the transaction and deleted after it, so that no row refers to an object that does not exist. What a
refused or replaced upload has stored is deleted.
"""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from catalog.models import Deliverable, FileFacts, FilePreview, FormerPreview, Listing, ListingReview, Preview, StorePicture
from catalog.models.files import PreviewKind
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.selectors.reviews import compared_reviews_of
from catalog.services.visibility import listing_edited
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import NotFound
from marketplace.core.ids import new_id
from marketplace.storage import default_storage

from ..errors import ListingLocked, ThumbnailNeeded, UploadConflict, VendorNotApproved
from ..inspection import Inspection
from ..models import Upload, VendorProfile
from ..previews import ProcessedPreview
from ..selectors import preview_of
from ..uploads.receiving import Received
from .limits import check_room, lock_vendor
from .listings import ensure_editable, lock_editable

DELIVERABLES, PREVIEWS = "deliverables/", "previews/"
StoredRow = Deliverable | Preview | FilePreview | StorePicture | FormerPreview
# The models of stored objects, except the parts of unfinished uploads, and packages, which can be built again.
STORED_MODELS: tuple[type[StoredRow], ...] = (Deliverable, Preview, FilePreview, StorePicture, FormerPreview)


def new_deliverable_key() -> str:
    """Return a new, unused object key."""
    return f"{DELIVERABLES}{new_id()}"


def ensure_uploadable(listing: Listing) -> None:
    """Refuse a new deliverable while the present one is under review.

    Raises:
        ListingLocked: the listing, or the update of a published one, is under review.
    """
    ensure_editable(listing)
    if listing.update_status == UpdateStatus.PENDING_REVIEW:
        raise ListingLocked(currentState=listing.update_status)


def attach_deliverable(
    *, listing: Listing, received: Received, inspection: Inspection, actor: User, upload: Upload | None = None
) -> Deliverable:
    """Record a stored file as the listing's candidate for the next review, in place of the present one.

    That one is deleted unless it was approved, because buyers may download it, or blocked, as evidence. Pass the listing as it was read when the
    request began: another candidate since then is a conflict. The received file is kept once its record is committed; the same transaction ends a resumable `upload`.

    Raises:
        ListingLocked: the listing came under review in the meantime.
        NotFound: the upload was deleted in the meantime.
        PreconditionFailed: it has changed since the state that If-Match names.
        UnapprovedStorageFull: the vendor keeps too much that is not approved.
        UploadConflict: another file was accepted in the meantime.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    seen, fingerprint = listing.candidate_deliverable_id, received.storage.fingerprint(received.key)
    with transaction.atomic():
        listing = lock_listing_for_vendor(listing)
        ensure_uploadable(listing)
        # One that was discarded or approved meanwhile is not in the way.
        if listing.candidate_deliverable_id not in {None, seen}:
            raise UploadConflict
        previous = listing.candidate_deliverable
        lock_vendor(listing.store)
        check_room(listing, adding=received.size, replacing=_replaced_bytes(listing), upload=upload)
        deliverable = _create_deliverable(listing, received, inspection, fingerprint)
        listing.candidate_deliverable = deliverable
        listing.save(update_fields=["candidate_deliverable"])
        if previous is not None and not previous.is_kept:
            previous.delete()
            delete_after_commit(previous.object_key)
        if upload is not None:
            if not Upload.objects.filter(pk=upload.pk).update(deliverable=deliverable, parts=[]):
                raise NotFound
            delete_after_commit(*upload.part_keys)
        record_facts(deliverable, inspection.facts)
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


def _create_deliverable(listing: Listing, received: Received, inspection: Inspection, fingerprint: str) -> Deliverable:
    return Deliverable.objects.create(
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


def check_room_for_file(*, listing: Listing, size: int) -> None:
    """Refuse a file of this announced size before it is received.

    Raises:
        UnapprovedStorageFull: the vendor keeps too much that is not approved.
    """
    check_room(listing, adding=size, replacing=_replaced_bytes(listing))


def _replaced_bytes(listing: Listing) -> int:
    candidate = listing.candidate_deliverable
    return 0 if candidate is None or candidate.is_kept else candidate.file_size


def record_facts(deliverable: Deliverable, facts: Mapping[str, Any]) -> None:
    """Record the facts by which versions of a file are compared; delete those of files that no longer exist and were never submitted."""
    listing = deliverable.listing
    FileFacts.objects.update_or_create(listing=listing, sha256=deliverable.sha256, defaults={"facts": dict(facts)})
    present = listing.deliverables.values_list("sha256", flat=True)
    reviewed = ListingReview.objects.filter(listing=listing).values_list("snapshot__file__checksum", flat=True)
    FileFacts.objects.filter(listing=listing).exclude(sha256__in={*present, *reviewed} - {None}).delete()


def attach_preview(*, listing: Listing, kind: PreviewKind, processed: ProcessedPreview, actor: User, slot: int = 0) -> Preview:
    """Store a processed preview; it replaces the present one of that kind and slot.

    Raises:
        ListingLocked: the listing came under review in the meantime.
        PreconditionFailed: it has changed since the state that If-Match names.
        UnapprovedStorageFull: the vendor keeps too much that is not approved.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    preview_id = new_id()
    preview = Preview(pk=preview_id, kind=kind, slot=slot, **object_fields(processed, f"{PREVIEWS}{preview_id}"))
    with stored_objects(contents_of(preview, processed)), transaction.atomic():
        listing = lock_listing_for_vendor(listing)
        previous = Preview.objects.filter(listing=listing, kind=kind, slot=slot).first()
        if listing.approved_deliverable_id is None:
            lock_vendor(listing.store)
            check_room(listing, adding=preview.size, replacing=0 if previous is None else previous.size)
        if previous is not None:
            # The same image, uploaded again, keeps its alternative text.
            preview.alt_text = previous.alt_text if previous.sha256 == preview.sha256 else ""
            _discard_preview(listing, previous)
        preview.listing = listing
        preview.save()
        # Previews are part of the public page, so the listing's time of change moves.
        listing.save(update_fields=["updated_at"])
        audit.record("listing.upload_preview", listing, actor=actor, kind=kind, slot=slot, preview=str(preview.pk), sha256=preview.sha256)
        listing_edited(listing)
    return preview


@transaction.atomic
def discard_candidate(*, listing: Listing, actor: User) -> Deliverable:
    """Discard the listing's candidate file. Approved files are kept, and so is a blocked file, as evidence.

    Raises:
        ListingLocked: it is under review.
        NotFound: there is none.
        PreconditionFailed: the listing has changed since the state that If-Match names.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    listing = lock_listing_for_vendor(listing)
    ensure_uploadable(listing)
    candidate = listing.candidate_deliverable
    if candidate is None:
        raise NotFound
    listing.candidate_deliverable = None
    listing.save(update_fields=["candidate_deliverable"])
    if not candidate.is_kept:
        Deliverable.objects.filter(pk=candidate.pk).delete()
        delete_after_commit(candidate.object_key)
    audit.record("listing.discard_file", listing, actor=actor, file=str(candidate.pk), sha256=candidate.sha256)
    return candidate


@transaction.atomic
def remove_preview(*, listing: Listing, preview_id: uuid.UUID | None, actor: User) -> Preview:
    """Remove a preview; its objects are deleted after the commit.

    Raises:
        ListingLocked: the listing is under review.
        NotFound: unknown, or another listing's.
        PreconditionFailed: the listing has changed since the state that If-Match names.
        ThumbnailNeeded: it is the thumbnail of a published listing.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    listing = lock_listing_for_vendor(listing)
    preview = preview_of(listing, preview_id)
    if listing.status == ListingStatus.PUBLISHED and preview.kind == PreviewKind.GALLERY and preview.slot == 0:
        raise ThumbnailNeeded
    _discard_preview(listing, preview)
    listing.save(update_fields=["updated_at"])
    audit.record("listing.remove_preview", listing, actor=actor, kind=preview.kind, slot=preview.slot, sha256=preview.sha256)
    listing_edited(listing)
    return preview


def _discard_preview(listing: Listing, preview: Preview) -> None:
    """Delete a preview. Its picture is kept while it is in a submission with which the next one will be compared."""
    Preview.objects.filter(pk=preview.pk).delete()
    compared = {each["checksum"] for review in compared_reviews_of(listing) for each in review.snapshot.get("previews", ())}
    kept = preview.kind == PreviewKind.GALLERY and preview.sha256 in compared
    if kept and not FormerPreview.objects.filter(listing=listing, sha256=preview.sha256).exists():
        FormerPreview.objects.create(
            listing=listing, object_key=preview.object_key, content_type=preview.content_type, size=preview.size, sha256=preview.sha256
        )
        delete_after_commit(*(copy["key"] for copy in preview.renditions.values()))
    else:
        delete_after_commit(*keys_of(preview))
    outdated = list(FormerPreview.objects.filter(listing=listing).exclude(sha256__in=compared))
    FormerPreview.objects.filter(pk__in=[picture.pk for picture in outdated]).delete()
    delete_after_commit(*(picture.object_key for picture in outdated))


def keys_of(row: StoredRow) -> list[str]:
    """Return the keys of all objects that a record refers to."""
    return [row.object_key, *(copy["key"] for copy in getattr(row, "renditions", {}).values())]


def object_fields(processed: ProcessedPreview, key: str) -> dict[str, Any]:
    """Return the fields of the record of a processed preview that is stored under this key."""
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
    return {
        "object_key": key,
        "content_type": processed.content_type,
        "size": len(processed.content),
        "sha256": sha256(processed.content).hexdigest(),
        "details": processed.details,
        "renditions": renditions,
    }


def lock_listing_for_vendor(listing: Listing) -> Listing:
    """Lock a listing that can be edited, of an open store; both are checked again, since a request may have taken hours.

    Raises:
        ListingLocked: it is under review.
        PreconditionFailed: it has changed since the state that If-Match names.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    listing = lock_editable(listing)
    if not listing.store.is_open:
        raise VendorNotApproved(vendorStatus=VendorProfile.objects.values_list("status", flat=True).filter(store=listing.store).first())
    return listing


def contents_of(row: Preview | FilePreview | StorePicture, processed: ProcessedPreview) -> dict[str, tuple[bytes, str]]:
    """Return content and media type of the objects of a processed preview, by the keys of its record."""
    copies = {row.renditions[name]["key"]: (copy.content, copy.content_type) for name, copy in processed.renditions.items()}
    return {row.object_key: (processed.content, processed.content_type)} | copies


@contextmanager
def stored_objects(contents: Mapping[str, tuple[bytes, str]]) -> Iterator[None]:
    """Write the objects, and delete them again when the block fails."""
    try:
        for key, (content, content_type) in contents.items():
            default_storage.save_bytes(key, content, content_type)
        yield
    except (OperationalError, InterfaceError):
        # The connection may have broken during the commit, so the record may exist. `sweep_objects` deletes the objects if it does not.
        raise
    except BaseException:
        for key in contents:
            default_storage.delete(key)
        raise


def delete_after_commit(*keys: str) -> None:
    """Delete objects after the commit. A failure is logged and does not undo the change."""
    for key in keys:
        # Not a partial: Django reads `__qualname__` of a robust callback when it logs its failure.
        def delete(key: str = key) -> None:
            default_storage.delete(key)

        transaction.on_commit(delete, robust=True)


@transaction.atomic
def record_opened(*, deliverable: Deliverable, path: str, actor: User) -> None:
    """Write to the audit log who opened which file of an archive."""
    audit.record("deliverable.open_entry", deliverable, actor=actor, path=path)

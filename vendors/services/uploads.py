"""Resumable uploads: their parts are stored as they arrive; a finished upload is checked and recorded like any other file."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from catalog.models import Deliverable, Listing
from marketplace.accounts.models import User
from marketplace.core.database import release_connection
from marketplace.core.errors import BodyTooLarge, NotFound, Problem, UnsupportedType
from marketplace.core.ids import new_id
from marketplace.core.transitions import lock
from marketplace.storage import default_storage
from marketplace.storage.base import StoredRange, waiting_for

from .. import bounds
from ..errors import FileRejected, OffsetConflict, PartTooSmall, TooManyUploads, UploadFinishing, UploadUnfinished
from ..inspection import inspect_deliverable
from ..models import Upload
from ..selectors import unfinished_uploads_of_vendor
from ..uploads.receiving import Received, removed_on_failure
from .files import attach_deliverable, delete_after_commit, ensure_uploadable, lock_listing_for_vendor, new_deliverable_key
from .limits import check_room, lock_vendor

FOLDER = "uploads/"


@transaction.atomic
def begin_upload(*, listing: Listing, filename: str, size: int, actor: User) -> Upload:
    """Begin a resumable upload of the listing's deliverable.

    Raises:
        ListingLocked: the listing, or the update of a published one, is under review.
        TooManyUploads: the vendor has `bounds.MAX_UNFINISHED_UPLOADS` unfinished ones.
        UnapprovedStorageFull: the vendor keeps too much that is not approved.
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    listing = lock_listing_for_vendor(listing)
    ensure_uploadable(listing)
    # Locked, so that two requests do not both begin the last one.
    lock_vendor(listing.store)
    if unfinished_uploads_of_vendor(listing.store.vendor_profile).count() >= bounds.MAX_UNFINISHED_UPLOADS:
        raise TooManyUploads(maximum=bounds.MAX_UNFINISHED_UPLOADS)
    check_room(listing, adding=size)
    return Upload.objects.create(listing=listing, filename=filename, size=size, expires_at=timezone.now() + bounds.UPLOAD_WAIT)


def new_part_key(*, upload: Upload) -> str:
    """Return a new, unused object key for a part."""
    return f"{FOLDER}{upload.pk}/{new_id()}"


def check_part(*, upload: Upload, offset: int, size: int) -> None:
    """Refuse a part that does not continue the upload, before it is read.

    Raises:
        BodyTooLarge: it is longer than a part may be, or than what is missing.
        OffsetConflict: it begins elsewhere.
        PartTooSmall: it is too small, and not the last one.
    """
    missing = upload.size - upload.offset
    if offset != upload.offset:
        raise OffsetConflict(offset=upload.offset)
    if size > min(missing, bounds.MAX_PART_BYTES):
        raise BodyTooLarge(maximumBytes=min(missing, bounds.MAX_PART_BYTES))
    if size < min(missing, bounds.MIN_PART_BYTES):
        raise PartTooSmall(minimumBytes=min(missing, bounds.MIN_PART_BYTES))


def append_part(*, upload: Upload, offset: int, key: str, size: int, actor: User) -> Upload:
    """Record a stored part. Of several at the same offset the first is kept; the objects of the others are deleted.

    Raises:
        NotFound: the upload expired or was deleted in the meantime.
        OffsetConflict: another part arrived in the meantime.
    """
    with removed_on_failure(key, Problem), transaction.atomic():
        # An expired upload does not count towards the room that is used, so it must not continue.
        upload = lock(Upload.objects.all(), pk=upload.pk, listing__store__owner=actor, expires_at__gt=timezone.now())
        check_part(upload=upload, offset=offset, size=size)
        upload.parts.append([key, size])
        upload.offset += size
        upload.expires_at = timezone.now() + bounds.UPLOAD_WAIT
        upload.save(update_fields=["parts", "offset", "expires_at"])
    return upload


@transaction.atomic
def discard_upload(*, upload: Upload, actor: User) -> None:
    """Delete an upload; its parts are deleted after the commit. If it was finished, the resulting file stays.

    Raises:
        NotFound: it was deleted in the meantime.
    """
    lock(Upload.objects.all(), pk=upload.pk, listing__store__owner=actor).delete()


def delete_parts(*, instance: Upload, **_kwargs: Any) -> None:
    """Delete the parts of a deleted upload after the commit (a receiver of `post_delete`)."""
    delete_after_commit(*instance.part_keys)


def finish_upload(*, upload: Upload, actor: User) -> Deliverable:
    """Join the parts and record them as the listing's candidate, as `attach_deliverable` does. Repeated, it returns the same record.

    A file that is refused is deleted with its upload. Any other failure leaves the upload, which can be finished later.

    Raises:
        FileRejected, UnsupportedType: what the inspection says.
        ListingLocked, PreconditionFailed, UnapprovedStorageFull, UploadConflict, VendorNotApproved: what `attach_deliverable` says.
        NotFound: the upload was deleted in the meantime.
        UploadFinishing: another request is finishing it.
        UploadUnfinished: bytes are missing.
    """
    if upload.deliverable is not None:
        return upload.deliverable
    if upload.offset < upload.size:
        raise UploadUnfinished(offset=upload.offset)
    ensure_uploadable(upload.listing)
    with _finishing(upload):
        try:
            with _joined(upload) as received:
                inspection = inspect_deliverable(storage=received.storage, key=received.key, size=received.size, sender=str(actor.pk))
                return attach_deliverable(listing=upload.listing, received=received, inspection=inspection, actor=actor, upload=upload)
        except (FileRejected, UnsupportedType):
            discard_upload(upload=upload, actor=actor)
            raise
        except FileNotFoundError as error:
            raise NotFound from error


@contextmanager
def _finishing(upload: Upload) -> Iterator[None]:
    """Let one request at a time finish an upload, without holding a database connection."""
    now = timezone.now()
    free = Upload.objects.filter(Q(finishing_until=None) | Q(finishing_until__lt=now), pk=upload.pk, deliverable=None)
    until = now + bounds.FINISH_WAIT
    if not free.update(finishing_until=until):
        if not Upload.objects.filter(pk=upload.pk).exists():
            raise NotFound
        raise UploadFinishing(headers={"Retry-After": "5"})
    try:
        yield
    finally:
        # Unless another request has taken over, because this one took longer than `FINISH_WAIT`.
        Upload.objects.filter(pk=upload.pk, finishing_until=until).update(finishing_until=None)


def _joined(upload: Upload) -> Received:
    """Store the parts as one file; return it with the checksums of what is stored."""
    release_connection()
    key = new_deliverable_key()
    digest, crc32, size = sha256(), 0, 0
    # Joining 5 GiB takes as long as inspecting them.
    with waiting_for("inspection"), removed_on_failure(key, Problem):
        ranges = [StoredRange(default_storage, part, 0, length) for part, length in upload.parts]
        default_storage.compose(key, ranges, content_type="application/octet-stream")
        for block in default_storage.read(key):
            digest.update(block)
            crc32 = zlib.crc32(block, crc32)
            size += len(block)
        if size != upload.size:
            raise FileRejected("It was not stored completely. Upload it again.", reason="unreadable")
    return Received(default_storage, key, upload.filename, size, digest.hexdigest(), crc32)


def expired_uploads() -> QuerySet[Upload]:
    """Return the expired uploads, except those that a request is finishing; evaluating the query locks them."""
    now = timezone.now()
    finishing = Q(finishing_until__gt=now)
    return Upload.objects.select_for_update().filter(~finishing, expires_at__lte=now)

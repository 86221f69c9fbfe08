"""The reviewer's decisions: approve, reject, take down, block a file and unblock it."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import Tier, User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition
from marketplace.core.events import emit
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail

from .. import bounds
from ..catalog_version import change_version
from ..errors import StoreClosed
from ..events import BlockChanged, ListingPublished, ListingReviewed, ListingUnpublished
from ..manifests import ensure_manifest
from ..models import Deliverable, Listing, ListingReview, Store
from ..models.listings import ListingStatus, UpdateStatus
from ..models.reviews import MALICIOUS_FILE, TAKEDOWN, ReviewKind, ReviewStatus
from ..selectors.listings import approved_versions
from ..selectors.reviews import is_blocked
from .findings import checked_findings
from .snapshots import snapshot_of
from .submission import close_open_review, close_review, usable_file
from .transitions import LISTING_TRANSITIONS, UPDATE_TRANSITIONS, lock_listing, lock_pending_review, lock_review, refuse_self_review
from .visibility import listing_changed

CLEAN_FILE_HINT = "Upload a clean file, then submit it."
FIX_HINT = "Fix it, then submit it again."


@transaction.atomic
def approve_listing(*, review: ListingReview, actor: User, tier_requirement: Tier | None = None, note: str = "") -> ListingReview:
    """Publish what was submitted: the listing, or the candidate file of a published one.

    `tier_requirement`, unless it is None, becomes the minimum account tier of buyers.

    Raises:
        DeliverableBlocked: the file is marked as malicious.
        DeliverableMissing: there is no file.
        InvalidTransition: it was decided or withdrawn, or the file was replaced, meanwhile.
        SelfReview: the actor is the vendor or submitted it.
        StoreClosed: the vendor is not approved.
    """
    note = texts.clean_text(note, "note", required=False)
    listing, review = lock_review(review, actor)
    # Serialised with a suspension of the vendor.
    if not lock(Store.objects.all(), pk=listing.store_id).is_open:
        raise StoreClosed
    deliverable = _reviewed_file(listing, review)
    now = timezone.now()
    changes: dict[str, Any] = {
        "approved_deliverable": deliverable,
        "candidate_deliverable": None,
        "published_at": listing.published_at or now,
    }
    if tier_requirement is not None:
        changes["tier_requirement"] = tier_requirement
    if deliverable.approved_at is None:
        deliverable.approved_at, deliverable.version = now, _unused_version(listing)
        deliverable.save(update_fields=["approved_at", "version"])
    table = UPDATE_TRANSITIONS if review.kind == ReviewKind.UPDATE else LISTING_TRANSITIONS
    table.apply(listing, "approve", actor=actor, reason=note, changes=changes, review=str(review.pk))
    close_review(review, ReviewStatus.APPROVED, decided_by=actor, note=note)
    ensure_manifest(listing)
    listing_changed(listing)
    emit(ListingPublished(listing.pk))
    emit(ListingReviewed(review))
    mail(listing.store.owner, "catalog/approved", listing=listing, review=review)
    return review


@transaction.atomic
def reject_listing(*, review: ListingReview, findings: Iterable[Mapping[str, str]], actor: User, note: str = "") -> ListingReview:
    """Reject a submission with findings; a published listing stays on sale with its approved file.

    Raises:
        InvalidInput: no findings, or one that is not valid.
        InvalidTransition: it was decided or withdrawn meanwhile.
        SelfReview: the actor is the vendor or submitted it.
    """
    note = texts.clean_text(note, "note", required=False)
    checked = checked_findings(findings)
    listing, review = lock_review(review, actor)
    _reject(listing, review, checked, actor, note)
    mail(listing.store.owner, "catalog/rejected", listing=listing, review=review)
    return review


@transaction.atomic
def takedown_listing(*, listing: Listing, reason: str, actor: User) -> ListingReview:
    """Take a published listing off sale for a reason; earlier buyers keep access.

    Raises:
        InvalidTransition: it is not published.
        SelfReview: the store is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    listing = lock_listing(listing.pk)
    refuse_self_review(listing, actor)
    review = _take_down(listing, {"code": TAKEDOWN, "field": "", "message": reason, "hint": FIX_HINT}, actor)
    mail(listing.store.owner, "catalog/taken_down", listing=listing, review=review, reason=reason)
    return review


@transaction.atomic
def block_deliverable(*, deliverable: Deliverable, reason: str, actor: User) -> Deliverable:
    """Mark a file as malicious, and every other file with the same bytes.

    They can no longer be downloaded; listings on sale with them are taken down, pending submissions with them rejected.

    Raises:
        InvalidTransition: it is blocked already.
        SelfReview: the store is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    listings = _lock_listings_with(deliverable)
    refuse_self_review(listings[deliverable.listing_id], actor)
    deliverable = lock(Deliverable.objects.all(), pk=deliverable.pk)
    if deliverable.blocked_at is not None:
        raise InvalidTransition(f"The file has been blocked since {deliverable.blocked_at:%Y-%m-%d %H:%M} UTC.", currentState="blocked")
    newly_blocked = not is_blocked(deliverable)
    deliverable.blocked_at = timezone.now()
    same = Deliverable.objects.filter(sha256=deliverable.sha256, blocked_at__isnull=True)
    for listing in listings.values():
        files = list(same.filter(listing=listing).order_by("pk"))
        for file in files:
            file.blocked_at = deliverable.blocked_at
            file.save(update_fields=["blocked_at"])
            audit.record("deliverable.block", file, actor=actor, to_state="blocked", reason=reason, sha256=file.sha256)
        if files:
            _take_down_or_reject(listing, files, reason, actor)
    # Versions can no longer be compared with it.
    change_version()
    if newly_blocked:
        emit(BlockChanged(deliverable.sha256, blocked=True, reason=reason))
    return deliverable


@transaction.atomic
def unblock_deliverable(*, deliverable: Deliverable, reason: str, actor: User) -> Deliverable:
    """Undo a block that was a mistake, for every file with the same bytes: it can be submitted, and downloaded where it was approved.

    Listings that were taken down with it stay off sale until they are submitted again or the takedown is appealed.

    Raises:
        InvalidTransition: it is not blocked.
        SelfReview: one of the stores with such a file is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    listings = _lock_listings_with(deliverable)
    for listing in listings.values():
        refuse_self_review(listing, actor)
    deliverable = lock(Deliverable.objects.all(), pk=deliverable.pk)
    if deliverable.blocked_at is None:
        raise InvalidTransition("The file is not blocked.")
    blocked = Deliverable.objects.filter(sha256=deliverable.sha256, blocked_at__isnull=False)
    for listing in listings.values():
        files = list(blocked.filter(listing=listing).order_by("pk"))
        for file in files:
            file.blocked_at = None
            file.save(update_fields=["blocked_at"])
            audit.record("deliverable.unblock", file, actor=actor, from_state="blocked", reason=reason, sha256=file.sha256)
        if files:
            mail(listing.store.owner, "catalog/file_unblocked", listing=listing, deliverable=files[0], reason=reason)
    change_version()
    emit(BlockChanged(deliverable.sha256, blocked=False, reason=reason))
    deliverable.blocked_at = None
    return deliverable


def _reviewed_file(listing: Listing, review: ListingReview) -> Deliverable:
    """Return the submitted file, the only one that may be approved."""
    deliverable = usable_file(listing)
    if review.submitted_file_id != str(deliverable.pk):
        raise InvalidTransition("The vendor replaced the file after submitting it. Reject it, so that it is submitted again.")
    return deliverable


def _unused_version(listing: Listing) -> str:
    """Return the listing's version, with a numeric suffix if an earlier file has it: `1.0`, then `1.0+2`.

    The caller holds the listing's lock, so that it stays unused until it is saved.
    """
    label = listing.version
    if not label:
        return ""
    taken = set(approved_versions(listing).exclude(version="").values_list("version", flat=True))
    number = 2
    while label in taken:
        suffix = f"+{number}"
        label = listing.version[: bounds.VERSION_CHARS - len(suffix)] + suffix
        number += 1
    return label


def _lock_listings_with(deliverable: Deliverable) -> dict[uuid.UUID, Listing]:
    """Return the listings with a file of these bytes, locked in the order of their ids, so that concurrent blocks do not deadlock.

    A copy uploaded later can be neither submitted nor approved, since both check the bytes.
    """
    holders = Deliverable.objects.filter(sha256=deliverable.sha256).values_list("listing_id", flat=True)
    return {pk: lock_listing(pk) for pk in sorted({*holders, deliverable.listing_id})}


def _take_down_or_reject(listing: Listing, files: Sequence[Deliverable], reason: str, actor: User) -> None:
    """Take down a locked listing on sale with blocked files, or reject its pending submission with them; mail its vendor."""
    finding = {"code": MALICIOUS_FILE, "field": "file", "message": reason, "hint": CLEAN_FILE_HINT}
    if listing.status == ListingStatus.PUBLISHED and listing.approved_deliverable_id in {file.pk for file in files}:
        _take_down(listing, finding, actor)
    elif (review := lock_pending_review(listing)) is not None and review.submitted_file_id in {str(file.pk) for file in files}:
        _reject(listing, review, [finding], actor)
    mail(listing.store.owner, "catalog/file_blocked", listing=listing, deliverable=files[0], reason=reason)


def _reject(listing: Listing, review: ListingReview, findings: list[dict[str, str]], actor: User, note: str = "") -> None:
    table = UPDATE_TRANSITIONS if review.kind == ReviewKind.UPDATE else LISTING_TRANSITIONS
    table.apply(listing, "reject", actor=actor, reason=note, review=str(review.pk), findings=findings)
    close_review(review, ReviewStatus.REJECTED, decided_by=actor, note=note, findings=findings)
    emit(ListingReviewed(review))


def _take_down(listing: Listing, finding: dict[str, str], actor: User) -> ListingReview:
    now = timezone.now()
    LISTING_TRANSITIONS.apply(listing, "takedown", actor=actor, reason=finding["message"], changes={"update_status": UpdateStatus.NONE})
    close_open_review(listing, ReviewStatus.REJECTED, decided_by=actor, findings=[finding])
    review = ListingReview.objects.create(
        listing=listing,
        kind=ReviewKind.TAKEDOWN,
        status=ReviewStatus.REJECTED,
        submitted_at=now,
        snapshot=snapshot_of(listing),
        findings=[finding],
        decided_at=now,
        decided_by=actor,
    )
    listing_changed(listing)
    emit(ListingUnpublished(listing.pk))
    emit(ListingReviewed(review))
    return review

"""The vendor's actions: submit, withdraw, unpublish."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core.errors import InvalidTransition
from marketplace.core.events import emit

from ..errors import DeliverableBlocked, DeliverableMissing, NothingToReview
from ..events import ListingUnpublished
from ..models import Deliverable, Listing, ListingReview
from ..models.listings import ListingStatus, UpdateStatus
from ..models.reviews import ReviewKind, ReviewStatus
from ..selectors.reviews import is_blocked
from .snapshots import snapshot_of
from .transitions import LISTING_TRANSITIONS, UPDATE_TRANSITIONS, lock_own_listing, lock_pending_review
from .visibility import listing_changed

Findings = Sequence[Mapping[str, str]]


@transaction.atomic
def submit_listing(*, listing: Listing, checks: Sequence[Mapping[str, Any]], actor: User) -> Listing:
    """Submit a listing, or the candidate file of a published one, for review, with its passed checks: `{name, passed, detail, warning}`.

    The listing is given as it was when the checks ran.

    Raises:
        DeliverableBlocked: the file is marked as malicious.
        DeliverableMissing: there is no file.
        InvalidTransition: it is in review already, or its file changed since the checks.
        NotFound: it is not the actor's.
        NothingToReview: it is published and has no candidate file.
    """
    if not checks or not all(check["passed"] for check in checks):
        message = "a listing is submitted with all of its checks passed"
        raise ValueError(message)
    checked_file = listing.candidate_deliverable_id
    listing = lock_own_listing(listing, actor)
    if listing.candidate_deliverable_id != checked_file:
        raise InvalidTransition("Its file was replaced during the checks. Submit it again.", currentState=listing.status)
    is_update = listing.status == ListingStatus.PUBLISHED
    if is_update and listing.candidate_deliverable is None:
        raise NothingToReview
    usable_file(listing)
    now = timezone.now()
    table = UPDATE_TRANSITIONS if is_update else LISTING_TRANSITIONS
    table.apply(listing, "submit", actor=actor, changes={"submitted_at": now})
    ListingReview.objects.create(
        listing=listing,
        kind=ReviewKind.UPDATE if is_update else ReviewKind.LISTING,
        submitted_at=now,
        submitted_by=actor,
        checks=[dict(check) for check in checks],
        snapshot=snapshot_of(listing),
    )
    return listing


@transaction.atomic
def withdraw_listing(*, listing: Listing, actor: User) -> Listing:
    """Withdraw a submission: the listing becomes a draft again; a published one stays published.

    Raises:
        InvalidTransition: there is no pending submission.
        NotFound: it is not the actor's.
    """
    listing = lock_own_listing(listing, actor)
    table = UPDATE_TRANSITIONS if listing.status == ListingStatus.PUBLISHED else LISTING_TRANSITIONS
    table.apply(listing, "withdraw", actor=actor)
    close_open_review(listing, ReviewStatus.WITHDRAWN)
    return listing


@transaction.atomic
def unpublish_listing(*, listing: Listing, actor: User) -> Listing:
    """Take a listing off sale; earlier buyers keep access. A pending update is withdrawn, and its file stays with the draft.

    Raises:
        InvalidTransition: it is not published.
        NotFound: it is not the actor's.
    """
    listing = lock_own_listing(listing, actor)
    LISTING_TRANSITIONS.apply(listing, "unpublish", actor=actor, changes={"update_status": UpdateStatus.NONE})
    close_open_review(listing, ReviewStatus.WITHDRAWN)
    listing_changed(listing)
    emit(ListingUnpublished(listing.pk))
    return listing


def close_open_review(listing: Listing, status: ReviewStatus, *, decided_by: User | None = None, findings: Findings = ()) -> None:
    """Close the pending review of a locked listing, if there is one, after a transition of the listing."""
    review = lock_pending_review(listing)
    if review is not None:
        close_review(review, status, decided_by=decided_by, findings=findings)


def close_review(review: ListingReview, status: ReviewStatus, *, decided_by: User | None, note: str = "", findings: Findings = ()) -> None:
    """Close a locked pending review."""
    review.status, review.decided_at, review.decided_by = status, timezone.now(), decided_by
    review.note, review.findings = note, list(findings)
    review.save(update_fields=["status", "decided_at", "decided_by", "note", "findings"])


def usable_file(listing: Listing) -> Deliverable:
    """Return the newest file of a listing, which may be submitted and approved.

    Raises:
        DeliverableBlocked: it is marked as malicious.
        DeliverableMissing: there is none.
    """
    deliverable = listing.candidate_deliverable or listing.approved_deliverable
    if deliverable is None:
        raise DeliverableMissing
    if is_blocked(deliverable):
        raise DeliverableBlocked
    return deliverable

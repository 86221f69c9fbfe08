"""What is restored when an appeal (`marketplace.review.appeals`) overturns a rejection or a takedown."""

from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core.errors import InvalidTransition
from marketplace.core.events import emit
from marketplace.core.models import AuditEntry
from marketplace.review.appeals import Appealable, register_appealable
from marketplace.ui.mail import mail

from ..errors import DeliverableBlocked
from ..events import ListingPublished, ListingReviewed
from ..manifests import ensure_manifest
from ..models import Deliverable, Listing, ListingReview
from ..models.files import PreviewKind
from ..models.reviews import ReviewKind, ReviewStatus
from ..selectors.reviews import is_blocked
from .snapshots import snapshot_of
from .transitions import LISTING_TRANSITIONS, UPDATE_TRANSITIONS, lock_listing
from .visibility import listing_changed


@transaction.atomic
def overturn_takedown(*, subject: Listing, decision: AuditEntry, reason: str, actor: User) -> None:
    """Put a listing that was taken down on sale again, with the same file. An update that the takedown rejected is queued again.

    Raises:
        DeliverableBlocked: the file is marked as malicious.
        InvalidTransition: the cover picture was removed since then.
    """
    takedown = ListingReview.objects.filter(listing=subject, kind=ReviewKind.TAKEDOWN).latest("decided_at")
    _refuse_without_cover(subject, takedown)
    _restore(subject, reason, actor)
    update, file = _update_ended_by(takedown), subject.candidate_deliverable
    if update is not None and file is not None and _is_same_file(update, file) and not is_blocked(file):
        _reopen(update, subject, reason, actor)


@transaction.atomic
def overturn_rejection(*, subject: Listing, decision: AuditEntry, reason: str, actor: User) -> None:
    """Put a rejected submission back in its place in the queue. If its file was on sale and not taken down since, publish it instead.

    Raises:
        DeliverableBlocked: the file is marked as malicious.
        InvalidTransition: the file was replaced, or the cover picture removed, since the submission.
    """
    review = ListingReview.objects.get(pk=decision.data["review"])
    _refuse_without_cover(subject, review)
    on_sale_before = subject.candidate_deliverable is None and _is_same_file(review, subject.approved_deliverable)
    if review.kind == ReviewKind.LISTING and on_sale_before and not _was_taken_down(subject):
        _restore(subject, reason, actor)
        return
    file = subject.candidate_deliverable or subject.approved_deliverable
    if not _is_same_file(review, file):
        raise InvalidTransition("The file was replaced since it was rejected: the new one has to be submitted. Let the decision stand.")
    if file is not None and is_blocked(file):
        raise DeliverableBlocked
    _reopen(review, subject, reason, actor)
    mail(subject.store.owner, "catalog/reopened", listing=subject, review=review, reason=reason)


def _restore(listing: Listing, reason: str, actor: User) -> None:
    if listing.approved_deliverable is None:
        raise InvalidTransition("It was never on sale.", currentState=listing.status)
    if is_blocked(listing.approved_deliverable):
        raise DeliverableBlocked
    LISTING_TRANSITIONS.apply(listing, "restore", actor=actor, reason=reason)
    now = timezone.now()
    # The last review is what the vendor's pages show.
    review = ListingReview.objects.create(
        listing=listing,
        status=ReviewStatus.APPROVED,
        submitted_at=now,
        # Of the file that is on sale, not of a newer one that was not reviewed.
        snapshot=snapshot_of(listing, file=listing.approved_deliverable),
        note=reason,
        decided_at=now,
        decided_by=actor,
    )
    # The stored one may describe a newer file, which was not reviewed.
    ensure_manifest(listing)
    listing_changed(listing)
    emit(ListingPublished(listing.pk))
    emit(ListingReviewed(review))
    mail(listing.store.owner, "catalog/restored", listing=listing, reason=reason)


def _refuse_without_cover(listing: Listing, decided: ListingReview) -> None:
    """Refuse a listing whose vendor removed the cover picture since the decision; all that is submitted has one."""
    cover = {"kind": PreviewKind.GALLERY, "slot": 0}
    had_one = any(cover.items() <= preview.items() for preview in decided.snapshot.get("previews", ()))
    if had_one and not listing.previews.filter(**cover).exists():
        raise InvalidTransition("Its cover picture was removed since then: it has to be submitted with a new one. Let the decision stand.")


def _update_ended_by(takedown: ListingReview) -> ListingReview | None:
    """Return the review of an update that a takedown ended; None if there was none."""
    rejected = ListingReview.objects.filter(listing=takedown.listing_id, kind=ReviewKind.UPDATE, status=ReviewStatus.REJECTED)
    # The takedown ended it a moment after its own time, and nothing was decided on since.
    return rejected.filter(decided_at__gte=takedown.decided_at).first()


def _was_taken_down(listing: Listing) -> bool:
    """Tell whether a takedown followed the listing's last approval."""
    decisions = ListingReview.objects.filter(Q(status=ReviewStatus.APPROVED) | Q(kind=ReviewKind.TAKEDOWN), listing=listing)
    last = decisions.order_by("-decided_at", "-id").first()
    return last is not None and last.kind == ReviewKind.TAKEDOWN


def _is_same_file(review: ListingReview, file: Deliverable | None) -> bool:
    return file is not None and review.submitted_file_id == str(file.pk)


def _reopen(review: ListingReview, listing: Listing, reason: str, actor: User) -> None:
    """Queue a rejected submission again, with the time at which it was first submitted."""
    table = UPDATE_TRANSITIONS if review.kind == ReviewKind.UPDATE else LISTING_TRANSITIONS
    reopened = ListingReview.objects.create(
        listing=listing,
        kind=review.kind,
        submitted_at=review.submitted_at,
        submitted_by=review.submitted_by,
        checks=review.checks,
        # As it is now, which is what reviewers see: its vendor may have edited it since.
        snapshot=snapshot_of(listing),
    )
    table.apply(listing, "reopen", actor=actor, reason=reason, review=str(reopened.pk))


def connect() -> None:
    """Let vendors appeal rejections and takedowns."""
    overturns = {
        "listing.reject": overturn_rejection,
        "listing_update.reject": overturn_rejection,
        "listing.takedown": overturn_takedown,
    }
    register_appealable(
        Appealable(
            "asset", Listing, "store__owner", lock_listing, overturns, lambda listing: reverse("studio-listing", args=[listing.slug])
        )
    )

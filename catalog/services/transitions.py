"""State machines of listings and their updates, and the locks for their transitions."""

import uuid
from collections.abc import Collection

from marketplace.accounts.models import User
from marketplace.core.errors import InvalidTransition, NotFound, PreconditionFailed, SelfReview
from marketplace.core.transitions import TransitionTable, lock

from ..models import Listing, ListingReview
from ..models.listings import ListingStatus, UpdateStatus
from ..models.reviews import ReviewStatus

# All transitions; any other is refused.
LISTING_TRANSITIONS = TransitionTable(
    "listing",
    {
        "submit": ((ListingStatus.DRAFT, ListingStatus.REJECTED), ListingStatus.PENDING_REVIEW),
        "withdraw": ((ListingStatus.PENDING_REVIEW,), ListingStatus.DRAFT),
        "approve": ((ListingStatus.PENDING_REVIEW,), ListingStatus.PUBLISHED),
        "reject": ((ListingStatus.PENDING_REVIEW,), ListingStatus.REJECTED),
        "takedown": ((ListingStatus.PUBLISHED,), ListingStatus.REJECTED),
        "unpublish": ((ListingStatus.PUBLISHED,), ListingStatus.DRAFT),
        # By an appeal: to the review, or on sale again with the file that was on sale.
        "reopen": ((ListingStatus.REJECTED,), ListingStatus.PENDING_REVIEW),
        "restore": ((ListingStatus.REJECTED,), ListingStatus.PUBLISHED),
    },
)
# The candidate file of a published listing, whose status stays Published.
UPDATE_TRANSITIONS = TransitionTable(
    "listing_update",
    {
        "submit": ((UpdateStatus.NONE,), UpdateStatus.PENDING_REVIEW),
        "withdraw": ((UpdateStatus.PENDING_REVIEW,), UpdateStatus.NONE),
        "approve": ((UpdateStatus.PENDING_REVIEW,), UpdateStatus.NONE),
        "reject": ((UpdateStatus.PENDING_REVIEW,), UpdateStatus.NONE),
        "reopen": ((UpdateStatus.NONE,), UpdateStatus.PENDING_REVIEW),
    },
    field="update_status",
)
_WITH_ALL = ("store__owner", "category", "approved_deliverable", "candidate_deliverable")


def lock_listing(listing_id: uuid.UUID) -> Listing:
    """Return the current listing, locked until the end of the transaction.

    Related rows are read once the lock is held: a query that waits for a lock sees other tables as they were before it
    waited. The listing is locked first, which serialises what happens to its review and files; its store follows, and the
    catalog's version is last.
    """
    lock(Listing.objects.all(), pk=listing_id)
    return Listing.objects.select_related(*_WITH_ALL).get(pk=listing_id)


def lock_own_listing(listing: Listing, actor: User) -> Listing:
    """Return the vendor's own listing, locked.

    Raises:
        NotFound: it is someone else's, or the account is not active.
        PreconditionFailed: it has none of the required ETags.
    """
    locked = lock_listing(listing.pk)
    if locked.store.owner_id != actor.pk or not locked.store.owner.is_active:
        raise NotFound
    require_etag(locked, listing.required_etags)
    return locked


def require_etag(listing: Listing, etags: Collection[str] | None) -> None:
    """Check that a listing has one of these ETags; None and `*` allow any.

    Raises:
        PreconditionFailed: it has changed.
    """
    if etags is not None and not {"*", listing.etag} & set(etags):
        raise PreconditionFailed


def lock_review(review: ListingReview, actor: User) -> tuple[Listing, ListingReview]:
    """Return the listing and its pending review, both locked, for a reviewer's decision.

    Raises:
        InvalidTransition: someone else decided, or the vendor withdrew it.
        SelfReview: the actor is the vendor or submitted it.
    """
    listing = lock_listing(review.listing_id)
    review = lock(ListingReview.objects.select_related("decided_by", "claimed_by"), pk=review.pk)
    refuse_self_review(listing, actor)
    if review.submitted_by_id == actor.pk:
        raise SelfReview
    if review.status == ReviewStatus.WITHDRAWN:
        raise InvalidTransition("The vendor has withdrawn it in the meantime.", currentState=review.status)
    if review.status != ReviewStatus.PENDING:
        decided = f"{review.decided_by} decided on it at {review.decided_at:%Y-%m-%d %H:%M} UTC: {review.status}."
        raise InvalidTransition(decided, currentState=review.status)
    review.listing = listing
    return listing, review


def lock_pending_review(listing: Listing) -> ListingReview | None:
    """Return the pending review of a locked listing, locked; None if there is none."""
    return ListingReview.objects.select_for_update(no_key=True).filter(listing=listing, status=ReviewStatus.PENDING).first()


def refuse_self_review(listing: Listing, actor: User) -> None:
    """Refuse a decision on the actor's own listing, even by a superuser.

    Raises:
        SelfReview: the store is the actor's.
    """
    if listing.store.owner_id == actor.pk:
        raise SelfReview

"""Claims: reviewers see who is at what. A marker that ends by itself, no lock: whoever may decide may decide."""

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import InvalidTransition, NotFound

from ..models import ListingReview
from ..models.reviews import ReviewKind
from ..selectors.reviews import is_claimed, open_to
from .transitions import lock_case

# Others may take a few of the oldest while we reach for them.
ATTEMPTS = 20


@transaction.atomic
def claim_review(*, review: ListingReview, actor: User, take_over: bool = False) -> ListingReview:
    """Tell other reviewers that one is at it; claiming again begins the time anew.

    Args:
        review: What is looked at.
        actor: The reviewer.
        take_over: Whether to take it from someone who is at it.

    Raises:
        InvalidTransition: it was decided or withdrawn meanwhile, or someone else is at it.
        SelfReview: the actor is the vendor or submitted it.
    """
    _, review = lock_case(review, actor)
    previous = review.claimed_by if is_claimed(review) else None
    if previous not in {None, actor} and not take_over:
        since = f"{review.claimed_at:%H:%M} UTC"
        raise InvalidTransition(f"{previous} is at it since {since}. Take it over, if you must.", currentState=review.status)
    review.claimed_by, review.claimed_at = actor, timezone.now()
    review.save(update_fields=["claimed_by", "claimed_at"])
    if previous is None:
        audit.record("review.claim", review, actor=actor)
    elif previous != actor:
        audit.record("review.take_over", review, actor=actor, takenFrom=str(previous.pk))
    return review


@transaction.atomic
def release_review(*, review: ListingReview, actor: User) -> ListingReview:
    """Give up one's claim.

    Raises:
        InvalidTransition: it was decided or withdrawn meanwhile, or it is not claimed by the actor.
        SelfReview: the actor is the vendor or submitted it.
    """
    _, review = lock_case(review, actor)
    if review.claimed_by_id != actor.pk:
        raise InvalidTransition("It is not claimed by you.", currentState=review.status)
    review.claimed_by = review.claimed_at = None
    review.save(update_fields=["claimed_by", "claimed_at"])
    audit.record("review.release", review, actor=actor)
    return review


def claim_next(
    *, actor: User, after: ListingReview | None = None, category_slug: str = "", kind: ReviewKind | None = None
) -> ListingReview | None:
    """Claim what has waited longest of what the actor may decide on and nobody else is at; None when there is nothing.

    Args:
        actor: The reviewer.
        after: What the actor has just looked at: the search begins behind it, and comes to it never.
        category_slug: Only this category; all of them when empty.
        kind: Only new listings or only updates; both when None.
    """
    waiting = open_to(actor, category_slug=category_slug, kind=kind)
    if after is not None:
        later = waiting.exclude(pk=after.pk).filter(submitted_at__gte=after.submitted_at)
        waiting = later if later.exists() else waiting.exclude(pk=after.pk)
    for review in waiting[:ATTEMPTS]:
        try:
            return claim_review(review=review, actor=actor)
        except (InvalidTransition, NotFound):
            continue
    return None

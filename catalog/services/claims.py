"""Claims on submissions: `marketplace.review.claims` with the locks of a decision."""

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.review import claims

from ..models import ListingReview
from ..models.reviews import ReviewKind
from ..selectors.reviews import open_to
from .transitions import lock_review

NOUN = "review"


@transaction.atomic
def claim_review(*, review: ListingReview, actor: User, take_over: bool = False) -> ListingReview:
    """Claim a review, so that other reviewers leave it; claiming it again restarts the time limit.

    Args:
        review: The review.
        actor: The reviewer.
        take_over: Whether to replace another reviewer's claim.

    Raises:
        InvalidTransition: it was decided or withdrawn meanwhile, or someone else has claimed it.
        SelfReview: the actor is the vendor or submitted it.
    """
    _, review = lock_review(review, actor)
    claims.take(review, noun=NOUN, actor=actor, take_over=take_over)
    return review


@transaction.atomic
def release_review(*, review: ListingReview, actor: User) -> ListingReview:
    """Release the actor's claim.

    Raises:
        InvalidTransition: it was decided or withdrawn meanwhile, or it is not claimed by the actor.
        SelfReview: the actor is the vendor or submitted it.
    """
    _, review = lock_review(review, actor)
    claims.give_up(review, noun=NOUN, actor=actor)
    return review


def claim_next(
    *, actor: User, after: ListingReview | None = None, category_slug: str = "", kind: ReviewKind | None = None
) -> ListingReview | None:
    """Claim and return the oldest pending review that the actor may decide on and nobody else has claimed; None if there is none.

    Args:
        actor: The reviewer.
        after: The review that the actor has just seen, which is skipped; later ones are preferred.
        category_slug: Only this category; all when empty.
        kind: Only this kind; all when None.
    """
    waiting = open_to(actor, category_slug=category_slug, kind=kind)
    if after is not None:
        later = waiting.exclude(pk=after.pk).filter(submitted_at__gte=after.submitted_at)
        waiting = later if later.exists() else waiting.exclude(pk=after.pk)
    return claims.claim_first(waiting, lambda review: claim_review(review=review, actor=actor))

"""Claims on submissions: `marketplace.review.claims`, under the locks that a decision takes."""

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.review import claims

from ..models import ListingReview
from ..models.reviews import ReviewKind
from ..selectors.reviews import open_to
from .transitions import lock_case

NOUN = "review"


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
    claims.take(review, noun=NOUN, actor=actor, take_over=take_over)
    return review


@transaction.atomic
def release_review(*, review: ListingReview, actor: User) -> ListingReview:
    """Give up one's claim.

    Raises:
        InvalidTransition: it was decided or withdrawn meanwhile, or it is not claimed by the actor.
        SelfReview: the actor is the vendor or submitted it.
    """
    _, review = lock_case(review, actor)
    claims.give_up(review, noun=NOUN, actor=actor)
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
    return claims.claim_first(waiting, lambda review: claim_review(review=review, actor=actor))

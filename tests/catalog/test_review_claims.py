"""Claims: who is at what, for how long, and what is next."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.utils import timezone

from catalog.admin.reviews import ListingReviewAdmin
from catalog.models import ListingReview
from catalog.services.review import approve_listing
from marketplace.core.errors import InvalidTransition
from marketplace.core.models import AuditEntry
from tests.catalog.cases import claim_next_review, draft, open_review, rejected, submitted
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]
QUEUE = ListingReviewAdmin(ListingReview, admin.site)


def waiting(**fields: Any) -> ListingReview:
    return open_review(submitted(draft(**fields)))


def age(review: ListingReview, **past: float) -> ListingReview:
    """Let a claim have been made a while ago."""
    review.claimed_at = timezone.now() - timedelta(**past)
    review.save()
    return review


def test_claim_of_a_case_that_someone_has_claimed_is_refused_and_names_them() -> None:
    review, first, second = waiting(), UserFactory(), UserFactory()
    QUEUE.claim_row(review, first)
    with pytest.raises(InvalidTransition, match=first.email):
        QUEUE.claim_row(review, second)
    with pytest.raises(InvalidTransition):
        QUEUE.release_row(review, second)
    review.refresh_from_db()
    assert review.claimed_by == first


def test_claim_can_be_taken_over_and_released() -> None:
    review, first, second = waiting(), UserFactory(), UserFactory()
    QUEUE.claim_row(review, first)
    assert QUEUE.claim_row(review, second, take_over=True).claimed_by == second
    entry = AuditEntry.objects.get(action="review.take_over")
    assert (entry.actor, entry.data["takenFrom"]) == (second, str(first.pk))
    QUEUE.release_row(review, second)
    review.refresh_from_db()
    assert review.claimed_by is None


def test_claim_expires(settings: Any) -> None:
    settings.REVIEW_CLAIM_MINUTES = 10
    review, first, second = waiting(), UserFactory(), UserFactory()
    age(QUEUE.claim_row(review, first), minutes=9)
    with pytest.raises(InvalidTransition):
        QUEUE.claim_row(review, second)
    age(ListingReview.objects.get(pk=review.pk), minutes=11)
    assert QUEUE.claim_row(review, second).claimed_by == second


def test_repeated_claim_restarts_its_time_without_a_second_audit_entry() -> None:
    review, actor = waiting(), UserFactory()
    before = age(QUEUE.claim_row(review, actor), minutes=5).claimed_at
    after = QUEUE.claim_row(review, actor).claimed_at
    assert before is not None
    assert after is not None
    assert after > before
    assert AuditEntry.objects.filter(action="review.claim").count() == 1


def test_claimed_case_can_be_decided_by_another_reviewer() -> None:
    review = waiting()
    QUEUE.claim_row(review, UserFactory())
    assert approve_listing(review=review, actor=UserFactory()).status == "Approved"


def test_claim_of_a_decided_case_is_refused() -> None:
    with pytest.raises(InvalidTransition):
        QUEUE.claim_row(rejected().reviews.get(), UserFactory())


def test_next_is_the_oldest_case_that_nobody_else_has_claimed_and_not_ones_own(django_assert_max_num_queries: Any) -> None:
    actor = UserFactory()
    taken, own, first = waiting(), waiting(), waiting()
    QUEUE.claim_row(taken, UserFactory())
    own.listing.store.owner = actor
    own.listing.store.save()
    with django_assert_max_num_queries(8):
        found = claim_next_review(actor)
    assert (found, found and found.claimed_by) == (first, actor)
    assert claim_next_review(UserFactory()) == own


def test_next_after_one_is_later_and_begins_again_at_the_oldest() -> None:
    actor = UserFactory()
    first, second, third = waiting(), waiting(), waiting()
    assert claim_next_review(actor, after=second) == third
    assert claim_next_review(actor, after=third) == first
    ListingReview.objects.exclude(pk=third.pk).delete()
    assert claim_next_review(actor, after=third) is None

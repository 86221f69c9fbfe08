"""Two at once: one decision stands, the other is told. Double decisions one after the other are tried on both databases."""

from functools import partial

import pytest
from django.db import connection

from catalog.models import Listing, ListingReview
from catalog.models.listings import ListingStatus
from catalog.services import review as services
from marketplace.core.errors import InvalidTransition
from marketplace.core.models import AuditEntry
from tests.catalog.cases import FINDING, PASSED, draft, open_review, published, submitted
from tests.developers.test_races import at_once, one_stands
from tests.factories import UserFactory

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="rows are locked by PostgreSQL only"),
]
assert connection is not None  # named in the condition above


@pytest.mark.parametrize("_round", range(4))
def test_one_of_many_decisions_stands(_round: int) -> None:
    listing = submitted()
    review = open_review(listing)
    before = AuditEntry.objects.count()
    outcomes = at_once(
        *[partial(services.approve_listing, review=review, actor=UserFactory()) for _ in range(3)],
        *[partial(services.reject_listing, review=review, findings=[FINDING], actor=UserFactory()) for _ in range(3)],
    )
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert AuditEntry.objects.count() == before + 1
    review.refresh_from_db()
    listing.refresh_from_db()
    assert (review.status, listing.status) in {("Approved", ListingStatus.PUBLISHED), ("Rejected", ListingStatus.REJECTED)}


@pytest.mark.parametrize("_round", range(4))
def test_withdrawal_and_approval_at_once_leave_one_of_them(_round: int) -> None:
    listing = submitted()
    review = open_review(listing)
    outcomes = at_once(
        partial(services.withdraw_listing, listing=listing, actor=listing.store.owner),
        partial(services.approve_listing, review=review, actor=UserFactory()),
    )
    assert one_stands(outcomes, InvalidTransition), outcomes
    review.refresh_from_db()
    listing.refresh_from_db()
    assert (review.status, listing.status) in {("Approved", ListingStatus.PUBLISHED), ("Withdrawn", ListingStatus.DRAFT)}


def test_one_of_many_submissions_stands() -> None:
    listing = draft()
    submit = partial(services.submit_listing, listing=listing, checks=PASSED, actor=listing.store.owner)
    outcomes = at_once(*[submit] * 6)
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert ListingReview.objects.filter(listing=listing).count() == 1


def test_one_of_many_takedowns_stands() -> None:
    listing = published()
    outcomes = at_once(*[partial(services.takedown_listing, listing=listing, reason="Copied.", actor=UserFactory()) for _ in range(4)])
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert Listing.objects.get(pk=listing.pk).status == ListingStatus.REJECTED

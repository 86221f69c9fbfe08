"""Two at once: one decision stands, the other is told. Double decisions one after the other are tried on both databases."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import transaction

from catalog.errors import StoreClosed
from catalog.models import Deliverable, Listing, ListingReview
from catalog.models.listings import ListingStatus
from catalog.selectors.listings import listings_on_sale
from catalog.services import review as services
from catalog.services import submission
from marketplace.core.errors import InvalidTransition
from marketplace.core.models import AuditEntry
from marketplace.core.transitions import lock
from tests.catalog.cases import FINDING, PASSED, add_candidate, claim_next_review, claim_review, draft, open_review, published, submitted
from tests.factories import UserFactory
from tests.races import one_stands, refusals_at_once
from tests.vendors.attaching import attach
from tests.vendors.cases import make_vendor
from tests.waiting import PATIENCE_SECONDS
from vendors.errors import ListingLocked
from vendors.services.profiles import suspend_vendor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


@pytest.mark.parametrize("_round", range(2))
def test_one_of_concurrent_decisions_on_a_listing_succeeds(_round: int) -> None:
    listing = submitted()
    review = open_review(listing)
    before = AuditEntry.objects.count()
    outcomes = refusals_at_once(
        *[partial(services.approve_listing, review=review, actor=UserFactory()) for _ in range(3)],
        *[partial(services.reject_listing, review=review, findings=[FINDING], actor=UserFactory()) for _ in range(3)],
    )
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert AuditEntry.objects.count() == before + 1
    review.refresh_from_db()
    listing.refresh_from_db()
    assert (review.status, listing.status) in {("Approved", ListingStatus.PUBLISHED), ("Rejected", ListingStatus.REJECTED)}


@pytest.mark.parametrize("_round", range(2))
@pytest.mark.parametrize("is_update", [False, True])
def test_concurrent_withdrawal_and_approval_end_in_one_of_them(_round: int, *, is_update: bool) -> None:
    listing = submitted(add_candidate(published()) if is_update else draft())
    review, candidate = open_review(listing), listing.candidate_deliverable_id
    outcomes = refusals_at_once(
        partial(submission.withdraw_listing, listing=listing, actor=listing.store.owner),
        partial(services.approve_listing, review=review, actor=UserFactory()),
    )
    assert one_stands(outcomes, InvalidTransition), outcomes
    review.refresh_from_db()
    listing.refresh_from_db()
    withdrawn = ("Withdrawn", ListingStatus.PUBLISHED if is_update else ListingStatus.DRAFT)
    assert (review.status, listing.status) == (("Approved", ListingStatus.PUBLISHED) if outcomes[1] is None else withdrawn)
    assert (listing.approved_deliverable_id == candidate) == (outcomes[1] is None)


def test_one_of_concurrent_submissions_of_a_listing_succeeds() -> None:
    listing = draft()
    submit = partial(submission.submit_listing, listing=listing, checks=PASSED, actor=listing.store.owner)
    outcomes = refusals_at_once(*[submit] * 6)
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert ListingReview.objects.filter(listing=listing).count() == 1


def test_one_of_concurrent_takedowns_succeeds() -> None:
    listing = published()
    outcomes = refusals_at_once(
        *[partial(services.takedown_listing, listing=listing, reason="Copied.", actor=UserFactory()) for _ in range(2)]
    )
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert Listing.objects.get(pk=listing.pk).status == ListingStatus.REJECTED


def test_one_of_concurrent_claims_of_a_review_succeeds() -> None:
    review = open_review(submitted())
    outcomes = refusals_at_once(*[partial(claim_review, review, UserFactory()) for _ in range(5)])
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert AuditEntry.objects.filter(action="review.claim").count() == 1


def test_reviewers_who_ask_for_the_next_at_once_get_one_each() -> None:
    cases = [submitted() for _ in range(2)]
    assert refusals_at_once(*[partial(claim_next_review, UserFactory()) for _ in cases]) == [None] * len(cases)
    claimers = set(ListingReview.objects.values_list("claimed_by", flat=True))
    assert None not in claimers
    assert len(claimers) == len(cases)


@pytest.mark.parametrize("_round", range(2))
def test_file_that_is_blocked_while_it_is_approved_is_never_left_on_sale(_round: int) -> None:
    listing = submitted()
    review, file = open_review(listing), listing.candidate_deliverable
    assert file is not None
    outcomes = refusals_at_once(
        partial(services.approve_listing, review=review, actor=UserFactory()),
        partial(services.block_deliverable, deliverable=file, reason="Steals passwords.", actor=UserFactory()),
    )
    assert outcomes[1] is None, outcomes
    assert Listing.objects.get(pk=listing.pk).status == ListingStatus.REJECTED
    assert (outcomes[0] is None) == AuditEntry.objects.filter(action="listing.takedown").exists()


@pytest.mark.parametrize("_round", range(2))
def test_copies_that_are_blocked_at_once_are_all_off_sale(_round: int) -> None:
    listings = [published() for _ in range(3)]
    Deliverable.objects.filter(listing__in=listings).update(sha256="c" * 64)
    files = list(Deliverable.objects.filter(listing__in=listings))
    outcomes = refusals_at_once(
        *[partial(services.block_deliverable, deliverable=file, reason="Bad.", actor=UserFactory()) for file in files]
    )
    assert one_stands(outcomes, InvalidTransition), outcomes
    assert Deliverable.objects.filter(blocked_at__isnull=False).count() == len(files)
    assert AuditEntry.objects.filter(action="deliverable.block").count() == len(files)
    assert not listings_on_sale().exists()


@pytest.mark.parametrize("_round", range(2))
def test_copy_of_a_file_approved_during_its_block_is_not_left_on_sale(_round: int) -> None:
    known, copy = published(), draft()
    Deliverable.objects.filter(listing__in=[known, copy]).update(sha256="c" * 64)
    review = open_review(submitted(Listing.objects.get(pk=copy.pk)))
    file = Deliverable.objects.get(listing=known)
    outcomes = refusals_at_once(
        partial(services.approve_listing, review=review, actor=UserFactory()),
        partial(services.block_deliverable, deliverable=file, reason="Bad.", actor=UserFactory()),
    )
    assert outcomes[1] is None, outcomes
    assert set(Listing.objects.filter(pk__in=[known.pk, copy.pk]).values_list("status", flat=True)) == {ListingStatus.REJECTED}


@pytest.mark.parametrize("_round", range(2))
def test_approval_while_the_vendor_is_suspended_sells_nothing(_round: int) -> None:
    profile = make_vendor()
    listing = submitted(draft(store=profile.store))
    review = open_review(listing)
    outcomes = refusals_at_once(
        partial(services.approve_listing, review=review, actor=UserFactory()),
        partial(suspend_vendor, profile=profile, reason="Copies.", actor=UserFactory()),
    )
    assert outcomes in ([None, None], [StoreClosed, None]), outcomes
    assert (Listing.objects.get(pk=listing.pk).status == ListingStatus.PUBLISHED) == (outcomes[0] is None)
    assert not listings_on_sale().exists()


def test_suspension_of_a_vendor_does_not_wait_for_a_decision_on_a_listing() -> None:
    profile = make_vendor()
    listing, suspend = published(store=profile.store), partial(suspend_vendor, profile=profile, reason="Copies.", actor=UserFactory())
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        # An approval has this lock, and takes that of the store next; an upload that of the profile.
        lock(Listing.objects.all(), pk=listing.pk)
        assert pool.submit(refusals_at_once, suspend).result(PATIENCE_SECONDS) == [None]


@pytest.mark.parametrize("_round", range(2))
def test_file_that_is_uploaded_while_an_update_is_decided_waits_for_its_own_review(_round: int) -> None:
    listing = submitted(add_candidate(published()))
    review, submitted_file = open_review(listing), listing.candidate_deliverable_id
    outcomes = refusals_at_once(
        partial(services.approve_listing, review=review, actor=UserFactory()),
        partial(attach, listing, b"0123456789"),
    )
    assert outcomes[0] is None, outcomes
    assert outcomes[1] in {None, ListingLocked}, outcomes
    fresh = Listing.objects.get(pk=listing.pk)
    assert fresh.approved_deliverable_id == submitted_file
    assert (fresh.candidate_deliverable_id is not None) == (outcomes[1] is None)

from collections.abc import Callable
from functools import partial

import pytest

from catalog.errors import DeliverableBlocked, DeliverableMissing, NothingToReview, StoreClosed
from catalog.models import AgentManifest, Deliverable, Listing, ListingReview, ListingStats
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.models.reviews import ReviewKind, ReviewStatus
from catalog.services import review as services
from catalog.services import submission
from catalog.services.snapshots import snapshot_of
from catalog.services.transitions import LISTING_TRANSITIONS, UPDATE_TRANSITIONS
from marketplace.accounts.models import Tier, User
from marketplace.core.errors import InvalidInput, InvalidTransition, NotFound, SelfReview
from marketplace.core.models import AuditEntry
from tests.catalog.cases import FINDING, MAKERS, PASSED, add_candidate, draft, open_review, published, submitted
from tests.factories import ListingFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

Verb = Callable[[Listing, User], object]


def _case(listing: Listing) -> ListingReview:
    """Return the listing's newest case; for a listing without one, one that never was submitted."""
    newest = listing.reviews.order_by("-id").first()
    return newest or ListingReview.objects.create(listing=listing, submitted_at=listing.created_at, snapshot=snapshot_of(listing))


VERBS: dict[str, Verb] = {
    "submit": lambda listing, _reviewer: submission.submit_listing(listing=listing, checks=PASSED, actor=listing.store.owner),
    "withdraw": lambda listing, _reviewer: submission.withdraw_listing(listing=listing, actor=listing.store.owner),
    "approve": lambda listing, reviewer: services.approve_listing(review=_case(listing), actor=reviewer),
    "reject": lambda listing, reviewer: services.reject_listing(review=_case(listing), findings=[FINDING], actor=reviewer),
    "takedown": lambda listing, reviewer: services.takedown_listing(listing=listing, reason="Copied.", actor=reviewer),
    "unpublish": lambda listing, _reviewer: submission.unpublish_listing(listing=listing, actor=listing.store.owner),
}


@pytest.mark.parametrize("status", ListingStatus)
@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_in_each_state_follows_the_table(status: ListingStatus, verb: str) -> None:
    listing = MAKERS[status]()
    reviewer = UserFactory()
    before = AuditEntry.objects.count()
    # Compared with the decisions in `tests/architecture/test_states.py`.
    sources, target = LISTING_TRANSITIONS.edges[verb]
    if status not in sources:
        refusal = NothingToReview if (status, verb) == (ListingStatus.PUBLISHED, "submit") else InvalidTransition
        with pytest.raises(refusal):
            VERBS[verb](listing, reviewer)
        assert AuditEntry.objects.count() == before
    else:
        VERBS[verb](listing, reviewer)
        entry = AuditEntry.objects.get(action=f"listing.{verb}", subject_id=str(listing.pk), from_state=status, to_state=target)
        assert entry.actor == (listing.store.owner if verb in {"submit", "withdraw", "unpublish"} else reviewer)
        if verb in {"approve", "reject"}:
            assert entry.data["review"] == str(listing.reviews.get().pk)
        assert AuditEntry.objects.count() == before + 1
    listing.refresh_from_db()
    assert listing.status == (target if status in sources else status)


@pytest.mark.parametrize("status", UpdateStatus)
@pytest.mark.parametrize("verb", ["submit", "withdraw", "approve", "reject"])
def test_each_verb_of_an_update_follows_its_table(status: UpdateStatus, verb: str) -> None:
    listing = add_candidate(published())
    if status == UpdateStatus.PENDING_REVIEW:
        listing = submitted(listing)
    sources, target = UPDATE_TRANSITIONS.edges[verb]
    if status not in sources:
        with pytest.raises(InvalidTransition):
            VERBS[verb](listing, UserFactory())
    else:
        VERBS[verb](listing, UserFactory())
        assert AuditEntry.objects.filter(action=f"listing_update.{verb}", from_state=status, to_state=target).exists()
    listing.refresh_from_db()
    assert (listing.status, listing.update_status) == (ListingStatus.PUBLISHED, target if status in sources else status)


def test_step_of_a_vendor_on_a_listing_of_someone_else_is_not_found() -> None:
    root = UserFactory(is_superuser=True, is_staff=True)
    with pytest.raises(NotFound):
        submission.submit_listing(listing=draft(), checks=PASSED, actor=root)
    with pytest.raises(NotFound):
        submission.withdraw_listing(listing=submitted(), actor=root)
    with pytest.raises(NotFound):
        submission.unpublish_listing(listing=published(), actor=root)


def test_review_by_the_submitter_is_refused_after_the_store_changed_hands() -> None:
    listing = submitted()
    submitter = listing.store.owner
    listing.store.owner = UserFactory()
    listing.store.save()
    with pytest.raises(SelfReview):
        services.approve_listing(review=open_review(listing), actor=submitter)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [("approve", "reject"), ("reject", "approve")])
def test_second_decision_is_refused_naming_who_decided(first: str, second: str) -> None:
    listing = submitted()
    stale = open_review(listing)
    winner, loser = UserFactory(), UserFactory()
    VERBS[first](listing, winner)
    entries = AuditEntry.objects.count()
    decide = {
        "approve": partial(services.approve_listing, review=stale, actor=loser),
        "reject": partial(services.reject_listing, review=stale, findings=[FINDING], actor=loser),
    }
    with pytest.raises(InvalidTransition, match=winner.email):
        decide[second]()
    stale.refresh_from_db()
    assert stale.decided_by == winner
    assert AuditEntry.objects.count() == entries


def test_decision_on_a_withdrawn_submission_is_refused_even_when_it_was_submitted_again() -> None:
    listing = submitted()
    stale = open_review(listing)
    submission.withdraw_listing(listing=listing, actor=listing.store.owner)
    submitted(Listing.objects.get(pk=listing.pk))
    with pytest.raises(InvalidTransition, match="withdrawn"):
        services.approve_listing(review=stale, actor=UserFactory())
    assert open_review(listing) != stale


def test_submission_keeps_checks_and_snapshot() -> None:
    listing = submitted(draft(title="Grotesk", base_price_minor=1250, tags=["sans"]))
    review = open_review(listing)
    assert review.kind == ReviewKind.LISTING
    assert review.checks == PASSED
    assert review.submitted_at == listing.submitted_at
    assert review.submitted_by == listing.store.owner
    assert review.snapshot["title"] == "Grotesk"
    assert review.snapshot["basePrice"] == 12.5
    assert review.snapshot["file"]["id"] == str(listing.candidate_deliverable_id)


def test_submission_without_passed_checks_raises_an_error() -> None:
    for checks in ([], [{"name": "pricing", "passed": False, "detail": ""}]):
        with pytest.raises(ValueError, match="checks"):
            submission.submit_listing(listing=draft(), checks=checks, actor=UserFactory())


def test_submission_whose_file_was_replaced_during_the_checks_is_refused_naming_the_state() -> None:
    checked = draft()
    add_candidate(Listing.objects.get(pk=checked.pk))
    with pytest.raises(InvalidTransition) as refusal:
        VERBS["submit"](checked, checked.store.owner)
    assert refusal.value.members == {"currentState": ListingStatus.DRAFT}


def test_submission_without_a_file_is_refused() -> None:
    listing = ListingFactory()
    with pytest.raises(DeliverableMissing):
        VERBS["submit"](listing, listing.store.owner)


@pytest.mark.slow
def test_approval_publishes_and_records_reviewer_tier_and_time() -> None:
    listing = submitted(draft(version="1.2"))
    reviewer = UserFactory()
    review = services.approve_listing(review=open_review(listing), actor=reviewer, tier_requirement=Tier.PRO, note="Fine work.")
    listing = Listing.objects.select_related("approved_deliverable").get(pk=listing.pk)
    assert (review.status, review.decided_by, review.note) == (ReviewStatus.APPROVED, reviewer, "Fine work.")
    assert AuditEntry.objects.get(action="listing.approve").reason == "Fine work."
    assert listing.candidate_deliverable is None
    assert listing.approved_deliverable is not None
    assert listing.approved_deliverable.version == "1.2"
    assert listing.approved_deliverable.approved_at is not None
    assert listing.published_at is not None
    assert listing.tier_requirement == Tier.PRO
    assert ListingStats.objects.get(listing=listing).purchases == 0
    assert AgentManifest.objects.filter(listing=listing).exists()


def test_approval_for_a_closed_store_is_refused_and_rejection_is_not() -> None:
    listing = submitted()
    listing.store.is_open = False
    listing.store.save()
    with pytest.raises(StoreClosed):
        VERBS["approve"](listing, UserFactory())
    VERBS["reject"](listing, UserFactory())


def test_block_of_a_submitted_file_rejects_the_submission_with_the_reason_as_its_finding() -> None:
    listing = submitted()
    review = open_review(listing)
    assert listing.candidate_deliverable is not None
    reviewer = UserFactory()
    services.block_deliverable(deliverable=listing.candidate_deliverable, reason="Steals passwords.", actor=reviewer)
    review.refresh_from_db()
    listing.refresh_from_db()
    assert (listing.status, review.status, review.decided_by) == (ListingStatus.REJECTED, ReviewStatus.REJECTED, reviewer)
    assert [(finding["code"], finding["message"]) for finding in review.findings] == [("malicious_file", "Steals passwords.")]
    with pytest.raises(DeliverableBlocked):
        VERBS["submit"](listing, reviewer)


def test_unblocked_file_can_be_submitted_again_in_every_listing_that_has_its_bytes() -> None:
    listing, other = submitted(), draft()
    assert listing.candidate_deliverable is not None
    Deliverable.objects.filter(listing=other).update(sha256=listing.candidate_deliverable.sha256)
    with pytest.raises(InvalidTransition):
        services.unblock_deliverable(deliverable=listing.candidate_deliverable, reason="A mistake.", actor=UserFactory())
    blocked = services.block_deliverable(deliverable=listing.candidate_deliverable, reason="Steals passwords.", actor=UserFactory())
    # A copy of one's own file is as much one's own.
    for file in (blocked, Deliverable.objects.get(listing=other)):
        with pytest.raises(SelfReview):
            services.unblock_deliverable(deliverable=file, reason="A mistake.", actor=listing.store.owner)
    services.unblock_deliverable(deliverable=blocked, reason="A mistake.", actor=UserFactory())
    assert not Deliverable.objects.exclude(blocked_at=None).exists()
    listing.refresh_from_db()
    VERBS["submit"](listing, listing.store.owner)
    listing.refresh_from_db()
    assert listing.status == ListingStatus.PENDING_REVIEW


def test_approval_of_bytes_that_were_blocked_in_another_listing_is_refused() -> None:
    other = draft()
    assert other.candidate_deliverable is not None
    listing = submitted()
    services.block_deliverable(deliverable=other.candidate_deliverable, reason="Steals passwords.", actor=UserFactory())
    # As if it had been uploaded at that very moment.
    Deliverable.objects.filter(listing=listing).update(sha256=other.candidate_deliverable.sha256)
    with pytest.raises(DeliverableBlocked):
        VERBS["approve"](listing, UserFactory())
    listing.refresh_from_db()
    assert listing.status == ListingStatus.PENDING_REVIEW


def test_approval_of_a_file_that_was_replaced_after_submission_is_refused() -> None:
    listing = submitted(add_candidate(published()))
    add_candidate(Listing.objects.get(pk=listing.pk))
    with pytest.raises(InvalidTransition, match="replaced the file"):
        VERBS["approve"](listing, UserFactory())
    # By the file before it.
    Listing.objects.update(candidate_deliverable=None)
    with pytest.raises(InvalidTransition, match="replaced the file"):
        VERBS["approve"](listing, UserFactory())


@pytest.mark.slow
def test_second_publication_keeps_the_first_date() -> None:
    listing = published()
    first = listing.published_at
    submission.unpublish_listing(listing=listing, actor=listing.store.owner)
    again = submitted(Listing.objects.get(pk=listing.pk))
    services.approve_listing(review=open_review(again), actor=UserFactory())
    again = Listing.objects.get(pk=listing.pk)
    assert (again.status, again.published_at) == (ListingStatus.PUBLISHED, first)
    assert again.approved_deliverable_id == listing.approved_deliverable_id


def test_rejection_without_proper_findings_is_refused() -> None:
    review = open_review(submitted())
    wrong: list[list[dict[str, str]]] = [
        [],
        [{"code": "no_such_reason", "message": "x"}],
        [{"code": "other", "message": "  "}],
        [FINDING] * 31,
        [FINDING | {"message": "x" * 2001}],
        [FINDING | {"field": "x" * 61}],
    ]
    for findings in wrong:
        with pytest.raises(InvalidInput):
            services.reject_listing(review=review, findings=findings, actor=UserFactory())
    assert open_review(review.listing) == review


def test_rejection_with_a_listed_reason_has_its_message() -> None:
    review = services.reject_listing(review=open_review(submitted()), findings=[{"code": "preview_poor"}, FINDING], actor=UserFactory())
    assert [finding["field"] for finding in review.findings] == ["previews", "file"]
    assert all(finding["message"] and finding["hint"] for finding in review.findings)

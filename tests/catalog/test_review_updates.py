from typing import Any

import pytest
from django.core import mail

from catalog.comparison.listings import changes_between
from catalog.errors import DeliverableBlocked
from catalog.events import ListingPublished, ListingReviewed, ListingUnpublished
from catalog.models import Deliverable, Listing, ListingReview
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.models.reviews import ReviewKind, ReviewStatus
from catalog.selectors.reviews import approvals_of
from catalog.services import review as services
from catalog.services import submission
from catalog.services.snapshots import snapshot_of
from marketplace.core import events
from marketplace.core.errors import InvalidInput, InvalidTransition
from marketplace.core.events import subscribe
from marketplace.core.models import AuditEntry
from tests.catalog.cases import add_candidate, draft, make_deliverable, open_review, published, submitted
from tests.factories import UserFactory

from .test_review_services import VERBS

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "outcome"), [("takedown", ReviewStatus.REJECTED), ("unpublish", ReviewStatus.WITHDRAWN)])
def test_leaving_the_catalog_closes_a_waiting_update(verb: str, outcome: ReviewStatus) -> None:
    listing = submitted(add_candidate(published()))
    review = open_review(listing)
    VERBS[verb](listing, UserFactory())
    review.refresh_from_db()
    listing.refresh_from_db()
    assert review.status == outcome
    assert listing.update_status == UpdateStatus.NONE


@pytest.mark.slow
def test_takedown_needs_a_reason_and_is_recorded_as_a_review_with_a_finding() -> None:
    listing, reviewer = published(), UserFactory()
    with pytest.raises(InvalidInput):
        services.takedown_listing(listing=listing, reason="  ", actor=reviewer)
    review = services.takedown_listing(listing=listing, reason="Copied from elsewhere.", actor=reviewer)
    assert (review.kind, review.status, review.decided_by) == (ReviewKind.TAKEDOWN, ReviewStatus.REJECTED, reviewer)
    assert [finding["message"] for finding in review.findings] == ["Copied from elsewhere."]


@pytest.mark.slow
def test_blocked_live_file_takes_the_listing_down() -> None:
    listing = published()
    assert listing.approved_deliverable is not None
    services.block_deliverable(deliverable=listing.approved_deliverable, reason="Steals passwords.", actor=UserFactory())
    listing = Listing.objects.get(pk=listing.pk)
    assert listing.status == ListingStatus.REJECTED
    assert listing.approved_deliverable is not None
    assert listing.approved_deliverable.blocked_at is not None
    assert listing.reviews.order_by("-id")[0].findings[0]["code"] == "malicious_file"
    with pytest.raises(DeliverableBlocked):
        submitted(listing)


@pytest.mark.slow
def test_blocked_old_file_leaves_the_listing_published() -> None:
    listing = published()
    old = make_deliverable(listing)
    services.block_deliverable(deliverable=old, reason="Steals passwords.", actor=UserFactory())
    listing.refresh_from_db()
    assert listing.status == ListingStatus.PUBLISHED


@pytest.mark.slow
def test_block_reaches_the_same_bytes_in_every_listing(django_capture_on_commit_callbacks: Any) -> None:
    sha256 = "c" * 64
    with django_capture_on_commit_callbacks():
        on_sale, waiting, update, unrelated = published(), draft(), add_candidate(published()), published()
        for listing in (on_sale, waiting, update):
            file = listing.candidate_deliverable or listing.approved_deliverable
            assert file is not None
            Deliverable.objects.filter(pk=file.pk).update(sha256=sha256)
        waiting, update = submitted(Listing.objects.get(pk=waiting.pk)), submitted(Listing.objects.get(pk=update.pk))
    listings = [on_sale, waiting, update]
    known = make_deliverable(draft(), sha256=sha256)
    old = make_deliverable(on_sale, sha256=sha256)
    with django_capture_on_commit_callbacks(execute=True):
        services.block_deliverable(deliverable=known, reason="Steals passwords.", actor=UserFactory())
    blocked = Deliverable.objects.filter(blocked_at__isnull=False)
    assert {file.sha256 for file in blocked} == {sha256}
    assert (blocked.count(), AuditEntry.objects.filter(action="deliverable.block").count()) == (5, 5)
    assert old in blocked
    assert [Listing.objects.get(pk=listing.pk).status for listing in listings] == ["Rejected", "Rejected", "Published"]
    assert Listing.objects.get(pk=update.pk).update_status == UpdateStatus.NONE
    assert not ListingReview.objects.filter(listing__in=listings, status=ReviewStatus.PENDING).exists()
    assert Listing.objects.get(pk=unrelated.pk).status == ListingStatus.PUBLISHED
    told = {address for message in mail.outbox for address in message.to}
    assert told == {listing.store.owner.email for listing in (known.listing, *listings)}
    assert len(mail.outbox) == 4


def test_second_block_of_a_file_is_refused() -> None:
    deliverable = make_deliverable(draft())
    services.block_deliverable(deliverable=deliverable, reason="Bad.", actor=UserFactory())
    with pytest.raises(InvalidTransition):
        services.block_deliverable(deliverable=deliverable, reason="Bad.", actor=UserFactory())
    assert AuditEntry.objects.filter(action="deliverable.block").count() == 1


def test_changes_are_against_what_was_approved_last() -> None:
    listing = published(title="Old name", tax_rate_bp=500)
    listing.title, listing.price_inr_minor, listing.tax_rate_bp = "New name", 9900, 1800
    listing.ai_training, listing.ai_origin, listing.ai_parts = "allowed", "declared", "The cover."
    listing.save()
    approved = approvals_of(listing)[0].snapshot
    changes = {change.name: (change.before, change.after) for change in changes_between(approved, snapshot_of(listing))}
    # The manifest is made of the title, among other things.
    manifests = changes.pop("manifest")
    assert ["New name" in manifest["agentGuidance"] for manifest in manifests] == [False, True]
    assert changes == {
        "title": ("Old name", "New name"),
        "priceInr": (None, 99.0),
        "taxRatePercent": (5.0, 18.0),
        "aiTraining": ("forbidden", "allowed"),
        "aiOrigin": ("undeclared", "declared"),
        "aiParts": ("", "The cover."),
    }


@pytest.mark.slow
def test_publishing_unpublishing_and_reviews_emit_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_subscribers", type(events._subscribers)(list))
    seen: list[events.Event] = []
    for event_type in (ListingPublished, ListingUnpublished, ListingReviewed):
        subscribe(event_type, seen.append)
    listing = published()
    review = listing.reviews.get()
    assert seen == [ListingPublished(listing.pk), ListingReviewed(review)]
    seen.clear()
    submission.unpublish_listing(listing=listing, actor=listing.store.owner)
    assert seen == [ListingUnpublished(listing.pk)]

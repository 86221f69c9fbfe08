"""Files on a published listing are candidates until a reviewer has approved them, line by line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog.comparison.listings import changes_between
from catalog.models import LicenseTier, Listing
from catalog.selectors.reviews import approvals_of
from catalog.services.review import approve_listing, block_deliverable, reject_listing
from catalog.services.snapshots import snapshot_of
from marketplace.accounts.models import User
from marketplace.storage import default_storage
from tests.factories import UserFactory
from tests.shop import bought, funded

from .attaching import show, upload
from .cases import ASSETS, PATCH, problem

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


@pytest.fixture
def step(client: APIClient, listing: Listing) -> Callable[[str], Any]:
    """Take a step with the listing."""
    return lambda name: client.post(f"{ASSETS}/{listing.id}/{name}")


@pytest.fixture
def reviewer(db: None) -> User:
    """Someone who decides."""
    return UserFactory(is_staff=True)


@pytest.fixture
def on_sale(listing: Listing, step: Callable[[str], Any], reviewer: User) -> Listing:
    """A listing for sale, and a newer file of it that no one reviewed."""
    upload(listing)
    show(listing, slot=0)
    assert step("submit").status_code == 200
    approve_listing(review=listing.reviews.get(status="Pending"), actor=reviewer)
    upload(listing, "2")
    return Listing.objects.get(pk=listing.pk)


def shown(anonymous: APIClient, listing: Listing) -> Any:
    """Return what everyone sees of the listing."""
    return anonymous.get(f"/api/v1/assets/{listing.slug}").json()


def waiting(listing: Listing) -> Any:
    """Return the review that waits."""
    return listing.reviews.get(status="Pending")


@pytest.mark.parametrize("stage", ["uploaded", "submitted", "rejected", "withdrawn"])
def test_buyers_get_the_reviewed_file_until_a_candidate_is_approved(
    stage: str, on_sale: Listing, step: Callable[[str], Any], reviewer: User, anonymous: APIClient, bearer_client: Callable[..., APIClient]
) -> None:
    reviewed = on_sale.approved_deliverable
    assert reviewed is not None
    if stage != "uploaded":
        step("submit")
    if stage == "rejected":
        reject_listing(review=waiting(on_sale), findings=[{"code": "file_broken"}], actor=reviewer)
    if stage == "withdrawn":
        step("withdraw")
    assert shown(anonymous, on_sale)["file"]["checksum"] == reviewed.sha256
    Listing.objects.filter(pk=on_sale.pk).update(price_inr_minor=100)
    buyer = bought(Listing.objects.get(pk=on_sale.pk), funded(inr=1000)).buyer
    link = bearer_client(buyer).post(f"/api/v1/library/download/{on_sale.pk}").json()
    package = b"".join(anonymous.get(link["downloadUrl"]).streaming_content)  # type: ignore[attr-defined]  # it streams
    assert b"".join(default_storage.read(reviewed.object_key)) in package


@pytest.mark.slow
def test_approval_swaps_the_candidate_in(on_sale: Listing, step: Callable[[str], Any], reviewer: User, anonymous: APIClient) -> None:
    candidate = on_sale.candidate_deliverable
    assert candidate is not None
    assert step("submit").json()["updateStatus"] == "PendingReview"
    assert shown(anonymous, on_sale)["file"]["checksum"] != candidate.sha256
    approve_listing(review=waiting(on_sale), actor=reviewer)
    assert shown(anonymous, on_sale)["file"]["checksum"] == candidate.sha256
    fresh = Listing.objects.get(pk=on_sale.pk)
    assert (fresh.status, fresh.update_status, fresh.candidate_deliverable_id) == ("Published", "", None)
    assert problem(step("submit")) == (409, "nothing_to_review")


@pytest.mark.slow
def test_rejected_candidate_can_be_submitted_again_or_replaced(
    on_sale: Listing, step: Callable[[str], Any], reviewer: User, client: APIClient
) -> None:
    step("submit")
    reject_listing(review=waiting(on_sale), findings=[{"code": "file_broken"}], actor=reviewer)
    record = client.get(f"{ASSETS}/{on_sale.pk}").json()
    assert (record["status"], record["updateStatus"]) == ("Published", None)
    assert step("submit").json()["updateStatus"] == "PendingReview"
    step("withdraw")
    upload(on_sale, "3")
    assert step("submit").json()["updateStatus"] == "PendingReview"
    items = client.get(f"{ASSETS}/{on_sale.pk}/reviews").json()["items"]
    assert [(item["kind"], item["status"]) for item in items] == [
        ("Update", "Pending"),
        ("Update", "Withdrawn"),
        ("Update", "Rejected"),
        ("Listing", "Approved"),
    ]
    # Each submission names the file that it was about.
    assert len({item["file"]["checksum"] for item in items}) == 3
    assert items[0]["file"]["id"] == str(Listing.objects.get(pk=on_sale.pk).candidate_deliverable_id)


@pytest.mark.slow
def test_candidate_under_review_cannot_be_replaced_while_texts_prices_and_previews_can(
    on_sale: Listing, step: Callable[[str], Any], client: APIClient, anonymous: APIClient
) -> None:
    step("submit")
    assert problem(step("file")) == (409, "listing_locked")
    assert client.patch(f"{ASSETS}/{on_sale.pk}", PATCH | {"title": "Aurora Neue"}, format="json").status_code == 200
    assert client.patch(f"{ASSETS}/{on_sale.pk}/regional-prices", {"priceEur": 9}, format="json").status_code == 200
    assert client.patch(f"{ASSETS}/{on_sale.pk}/licensing", {"readme": "New."}, format="json").status_code == 200
    show(on_sale, slot=1)
    detail = shown(anonymous, on_sale)
    assert (detail["title"], detail["priceEUR"], len(detail["previews"])) == ("Aurora Neue", 9.0, 2)


@pytest.mark.slow
def test_edits_of_a_published_listing_and_its_previews_are_listed_for_reviewers(on_sale: Listing, client: APIClient) -> None:
    client.patch(f"{ASSETS}/{on_sale.pk}", PATCH | {"title": "Aurora Neue"}, format="json")
    show(on_sale, slot=2)
    fresh = Listing.objects.get(pk=on_sale.pk)
    approved = approvals_of(fresh)[0].snapshot
    changed = {change.name for change in changes_between(approved, snapshot_of(fresh))}
    assert {"title", "previews", "file"} <= changed


def test_manifest_contains_nothing_of_the_candidate(
    on_sale: Listing, step: Callable[[str], Any], key_client: Callable[..., APIClient]
) -> None:
    assert on_sale.approved_deliverable is not None
    assert step("manifest/generate").status_code == 200
    manifest = key_client().get(f"/api/v1/assets/{on_sale.pk}/manifest").json()
    assert manifest["checksum"] == on_sale.approved_deliverable.sha256


@pytest.mark.parametrize("harm", ["none", "file", "thumbnail", "licence", "blocked"])
def test_preflight_says_what_submit_will_do(harm: str, listing: Listing, step: Callable[[str], Any], media: Path, reviewer: User) -> None:
    upload(listing)
    show(listing, slot=0 if harm != "thumbnail" else 1)
    file = Listing.objects.get(pk=listing.pk).candidate_deliverable
    assert file is not None
    if harm == "file":
        (media / file.object_key).unlink()
    if harm == "licence":
        LicenseTier.objects.update(is_active=False)
    if harm == "blocked":
        block_deliverable(deliverable=file, reason="Bad.", actor=reviewer)
    told = step("preflight").json()
    answer = step("submit")
    assert told["passed"] is (answer.status_code == 200) is (harm == "none")
    if harm == "none":
        assert listing.reviews.get().checks == told["checks"]
    else:
        assert problem(answer) == (422, "submit_checks_failed")
        assert answer.json()["checks"] == told["checks"]


def test_preflight_and_submit_are_within_the_callers_rate(client: APIClient, listing: Listing, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"bearer_app": 3}
    answers = [client.post(f"{ASSETS}/{listing.pk}/preflight") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert "Retry-After" in answers[-1]

"""Checks, submit, withdraw, unpublish, and what comes back from the reviewers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils.dateparse import parse_datetime
from rest_framework.test import APIClient

from catalog.models import AgentManifest, LicenseTier, Listing
from catalog.services.review import approve_listing, block_deliverable, reject_listing, takedown_listing
from marketplace.accounts.models import User
from marketplace.core.bounds import MAX_PRICE_MINOR
from marketplace.storage import default_storage
from tests.factories import UserFactory
from tests.files import makers
from tests.files.makers import form
from vendors.services.submission_checks import run_checks

from .attaching import show, upload
from .cases import ASSETS, PATCH, problem

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

CHECKS = ["file_integrity", "preview_thumbnail", "pricing", "licensing"]


@pytest.fixture
def reviewer() -> User:
    """Someone who decides."""
    return UserFactory(is_staff=True)


@pytest.fixture
def step(client: APIClient, listing: Listing) -> Callable[[str], Any]:
    """Take a step with the listing."""
    return lambda name: client.post(f"{ASSETS}/{listing.id}/{name}")


@pytest.fixture
def ready(listing: Listing) -> Listing:
    """A draft that passes every check."""
    upload(listing)
    show(listing, slot=0)
    return listing


def approve(listing: Listing, reviewer: User) -> None:
    """Publish what waits."""
    approve_listing(review=listing.reviews.get(status="Pending"), actor=reviewer)


def failed(answer: Any) -> list[str]:
    """Return the names of the failed checks of a refusal."""
    assert problem(answer) == (422, "submit_checks_failed")
    checks = answer.json()["checks"]
    assert [check["name"] for check in checks] == CHECKS
    assert all(set(check) == {"name", "passed", "detail", "warning"} and check["detail"] for check in checks)
    return [check["name"] for check in checks if not check["passed"]]


@pytest.mark.parametrize(("price", "passed"), [(0, True), (MAX_PRICE_MINOR, True), (MAX_PRICE_MINOR + 1, False), (-1, False)])
def test_price_check_passes_up_to_the_maximum(listing: Listing, price: int, passed: bool) -> None:  # noqa: FBT001 - a case of the table
    listing.price_inr_minor = price
    assert {check.name: check.passed for check in run_checks(listing)}["pricing"] is passed


def test_bare_draft_fails_with_each_outcome_and_stays(step: Callable[[str], Any], listing: Listing) -> None:
    assert failed(step("submit")) == ["file_integrity", "preview_thumbnail"]
    listing.refresh_from_db()
    assert listing.status == "Draft"
    assert not listing.reviews.exists()


def test_missing_thumbnail_fails_though_other_slots_are_filled(step: Callable[[str], Any], listing: Listing) -> None:
    upload(listing)
    show(listing, slot=1)
    assert failed(step("submit")) == ["preview_thumbnail"]


def test_listing_without_an_active_licence_fails(step: Callable[[str], Any], ready: Listing) -> None:
    Listing.objects.update(allowed_license_slugs=["extended"])
    LicenseTier.objects.filter(slug="extended").update(is_active=False)
    assert failed(step("submit")) == ["licensing"]


@pytest.mark.parametrize("harm", ["gone", "longer", "changed"])
def test_file_that_is_not_as_recorded_fails(harm: str, step: Callable[[str], Any], ready: Listing, media: Path) -> None:
    ready.refresh_from_db()
    deliverable = ready.candidate_deliverable
    assert deliverable is not None
    content = b"".join(default_storage.read(deliverable.object_key))
    path = media / deliverable.object_key
    match harm:
        case "gone":
            path.unlink()
        case "longer":
            path.write_bytes(content + b"x")
        case _:
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert failed(step("submit")) == ["file_integrity"]


def test_blocked_file_fails_the_submission_checks(step: Callable[[str], Any], ready: Listing, reviewer: User) -> None:
    ready.refresh_from_db()
    assert ready.candidate_deliverable is not None
    block_deliverable(deliverable=ready.candidate_deliverable, reason="malware", actor=reviewer)
    assert failed(step("submit")) == ["file_integrity"]


def test_preflight_reports_and_changes_nothing(step: Callable[[str], Any], listing: Listing) -> None:
    answer = step("preflight").json()
    assert set(answer) == {"passed", "checks"}
    assert (answer["passed"], [check["name"] for check in answer["checks"]]) == (False, CHECKS)
    listing.refresh_from_db()
    assert listing.status == "Draft"


def test_preflight_of_a_ready_listing_passes(step: Callable[[str], Any], ready: Listing) -> None:
    assert step("preflight").json()["passed"] is True


THUMBNAIL = {"preview_thumbnail"}


@pytest.mark.slow
@pytest.mark.parametrize(("size", "warned"), [((1, 1), THUMBNAIL), ((639, 400), THUMBNAIL), ((640, 400), set()), ((400, 640), set())])
def test_small_picture_is_accepted_with_a_warning_that_the_reviewer_gets_too(
    size: tuple[int, int], warned: set[str], client: APIClient, step: Callable[[str], Any], listing: Listing
) -> None:
    upload(listing)
    sent = client.post(f"{ASSETS}/{listing.id}/gallery-image?slot=0", form(makers.picture(size=size)), format="multipart")
    assert sent.status_code == 200
    checks = {check["name"]: check for check in step("preflight").json()["checks"]}
    assert checks["preview_thumbnail"]["passed"] is True
    assert {name for name, check in checks.items() if check["warning"]} == warned
    assert step("submit").status_code == 200
    assert listing.reviews.get().checks == list(checks.values())
    assert client.get(f"{ASSETS}/{listing.id}/reviews").json()["items"][0]["checks"] == list(checks.values())


def test_submit_queues_the_listing(step: Callable[[str], Any], ready: Listing) -> None:
    answer = step("submit")
    assert answer.status_code == 200
    assert set(answer.json()) == {"id", "status", "submittedAt"}
    assert (answer.json()["id"], answer.json()["status"]) == (str(ready.id), "PendingReview")
    assert answer.json()["submittedAt"].endswith("Z")
    ready.refresh_from_db()
    assert parse_datetime(answer.json()["submittedAt"]) == ready.submitted_at
    review = ready.reviews.get()
    assert [check["name"] for check in review.checks] == CHECKS


def test_second_submit_is_refused_before_the_file_is_read(step: Callable[[str], Any], ready: Listing, media: Path) -> None:
    step("submit")
    for path in (media / "deliverables").iterdir():
        path.unlink()
    answer = step("submit")
    assert problem(answer) == (409, "invalid_transition")
    assert answer.json()["currentState"] == "PendingReview"
    assert ready.reviews.count() == 1


@pytest.mark.parametrize("place", ["file", "gallery-image?slot=0", "audio-preview", "font-specimen", "manifest/generate"])
def test_files_previews_and_manifest_are_locked_under_review(place: str, step: Callable[[str], Any], ready: Listing) -> None:
    step("submit")
    assert problem(step(place)) == (409, "listing_locked")


@pytest.mark.parametrize("name", ["withdraw", "unpublish"])
def test_draft_cannot_be_withdrawn_or_unpublished(name: str, step: Callable[[str], Any], ready: Listing) -> None:
    assert problem(step(name)) == (409, "invalid_transition")


@pytest.mark.slow
def test_withdrawn_listing_is_a_draft_that_can_be_edited(step: Callable[[str], Any], ready: Listing, client: APIClient) -> None:
    step("submit")
    assert step("withdraw").json() == {"id": str(ready.id), "status": "Draft"}
    assert problem(step("withdraw")) == (409, "invalid_transition")
    assert client.patch(f"{ASSETS}/{ready.id}", PATCH, format="json").status_code == 200
    assert step("submit").status_code == 200


@pytest.mark.slow
def test_rejected_listing_shows_findings_and_is_submitted_again(
    step: Callable[[str], Any], ready: Listing, client: APIClient, reviewer: User
) -> None:
    step("submit")
    reject_listing(review=ready.reviews.get(), findings=[{"code": "preview_poor"}], actor=reviewer, note="Nearly there.")
    item = client.get(f"{ASSETS}/{ready.id}/reviews").json()["items"][0]
    assert (item["status"], item["kind"], item["note"]) == ("Rejected", "Listing", "Nearly there.")
    assert set(item["findings"][0]) == {"code", "field", "message", "hint"}
    assert item["findings"][0]["code"] == "preview_poor"
    assert client.get(f"{ASSETS}/{ready.id}").json()["status"] == "Rejected"
    assert step("submit").json()["status"] == "PendingReview"
    assert client.get(f"{ASSETS}/{ready.id}/reviews").json()["total"] == 2


@pytest.mark.slow
def test_published_listing_needs_a_new_file_to_be_submitted(
    step: Callable[[str], Any], ready: Listing, client: APIClient, reviewer: User
) -> None:
    step("submit")
    approve(ready, reviewer)
    assert problem(step("submit")) == (409, "nothing_to_review")
    upload(ready, "2")
    answer = step("submit").json()
    assert set(answer) == {"id", "status", "submittedAt", "updateStatus"}
    assert (answer["status"], answer["updateStatus"]) == ("Published", "PendingReview")
    assert problem(step("submit")) == (409, "invalid_transition")
    assert problem(step("file")) == (409, "listing_locked")


def test_update_is_swapped_in_by_approval_only(step: Callable[[str], Any], ready: Listing, client: APIClient, reviewer: User) -> None:
    step("submit")
    approve(ready, reviewer)
    first = client.get(f"{ASSETS}/{ready.id}").json()["liveFile"]
    upload(ready, "2")
    step("submit")
    waiting = client.get(f"{ASSETS}/{ready.id}").json()
    assert (waiting["liveFile"], waiting["updateStatus"]) == (first, "PendingReview")
    approve(ready, reviewer)
    approved = client.get(f"{ASSETS}/{ready.id}").json()
    assert (approved["liveFile"], approved["candidateFile"], approved["updateStatus"]) == (waiting["candidateFile"], None, None)


@pytest.mark.slow
def test_withdrawn_update_keeps_the_listing_published(
    step: Callable[[str], Any], ready: Listing, client: APIClient, reviewer: User
) -> None:
    step("submit")
    approve(ready, reviewer)
    upload(ready, "2")
    step("submit")
    assert step("withdraw").json() == {"id": str(ready.id), "status": "Published", "updateStatus": None}
    upload(ready, "3")


@pytest.mark.slow
def test_unpublished_listing_leaves_the_catalog(step: Callable[[str], Any], ready: Listing, reviewer: User, anonymous: APIClient) -> None:
    step("submit")
    approve(ready, reviewer)
    assert anonymous.get(f"/api/v1/assets/{ready.slug}").status_code == 200
    assert step("unpublish").json() == {"id": str(ready.id), "status": "Draft"}
    assert problem(anonymous.get(f"/api/v1/assets/{ready.slug}")) == (404, "not_found")
    assert problem(step("unpublish")) == (409, "invalid_transition")
    assert step("submit").json()["status"] == "PendingReview"


@pytest.mark.slow
def test_taken_down_listing_is_rejected_with_its_reason(
    step: Callable[[str], Any], ready: Listing, reviewer: User, client: APIClient
) -> None:
    step("submit")
    approve(ready, reviewer)
    takedown_listing(listing=ready, reason="Copied work.", actor=reviewer)
    item = client.get(f"{ASSETS}/{ready.id}/reviews").json()["items"][0]
    assert (item["kind"], item["findings"][0]["message"]) == ("Takedown", "Copied work.")
    assert client.get(f"{ASSETS}/{ready.id}").json()["status"] == "Rejected"


def test_publication_generates_a_missing_manifest(step: Callable[[str], Any], ready: Listing, reviewer: User) -> None:
    step("submit")
    assert not AgentManifest.objects.exists()
    approve(ready, reviewer)
    assert AgentManifest.objects.get().body["technical"]["formats"] == ["txt"]

"""Checks, submit, unpublish, and what comes back from the reviewers; who takes which step from which state is in `tests/catalog/test_review_services.py`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils.dateparse import parse_datetime
from rest_framework.test import APIClient

from catalog.models import Deliverable, LicenseTier, Listing, Preview
from catalog.services.review import block_deliverable, reject_listing
from marketplace.accounts.models import User
from marketplace.core.errors import InvalidTransition
from tests.catalog.cases import add_candidate, published, submitted
from tests.files import makers
from tests.files.makers import form
from vendors.api.views import submission as submission_views
from vendors.errors import SubmitChecksFailed
from vendors.selectors import listing_of
from vendors.services import submission_checks
from vendors.services.files import remove_preview
from vendors.services.submission import run_submit_checks, submit_checked
from vendors.services.verifying import StoredState

from .attaching import show, upload
from .cases import ASSETS, problem

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

CHECKS = ["file_integrity", "preview_thumbnail", "pricing", "licensing"]


@pytest.fixture
def ready(listing: Listing) -> Listing:
    """A draft that passes every check."""
    upload(listing)
    show(listing, slot=0)
    listing.refresh_from_db()
    return listing


def failed(step: Callable[[str], Any]) -> list[str]:
    """Return the names of the checks that fail: the preflight says what submitting is refused for."""
    told, answer = step("preflight").json(), step("submit")
    assert problem(answer) == (422, "submit_checks_failed")
    checks = answer.json()["checks"]
    assert told == {"passed": False, "checks": checks}
    assert [check["name"] for check in checks] == CHECKS
    assert all(set(check) == {"name", "passed", "detail", "warning"} and check["detail"] for check in checks)
    return [check["name"] for check in checks if not check["passed"]]


def test_bare_draft_fails_with_each_outcome_and_stays(step: Callable[[str], Any], listing: Listing) -> None:
    assert failed(step) == ["file_integrity", "preview_thumbnail"]
    listing.refresh_from_db()
    assert listing.status == "Draft"
    assert not listing.reviews.exists()


@pytest.mark.parametrize(
    ("harm", "check"),
    [
        ("gone", "file_integrity"),
        ("changed", "file_integrity"),
        ("blocked", "file_integrity"),
        ("no thumbnail", "preview_thumbnail"),
        ("no licence", "licensing"),
    ],
)
def test_listing_that_lacks_something_fails_the_check(
    harm: str, check: str, step: Callable[[str], Any], ready: Listing, reviewer: User, media: Path
) -> None:
    file = ready.candidate_deliverable
    assert file is not None
    path = media / file.object_key
    match harm:
        case "gone":
            path.unlink()
        case "changed":
            content = path.read_bytes()
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        case "blocked":
            block_deliverable(deliverable=file, reason="malware", actor=reviewer)
        case "no thumbnail":
            Preview.objects.update(slot=1)
        case _:
            Listing.objects.update(allowed_license_slugs=["extended"])
            LicenseTier.objects.filter(slug="extended").update(is_active=False)
    assert failed(step) == [check]


THUMBNAIL = {"preview_thumbnail"}


@pytest.mark.slow
@pytest.mark.parametrize(("size", "warned"), [((639, 400), THUMBNAIL), ((400, 640), set())])
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
    assert answer.json()["status"] == "PendingReview"
    ready.refresh_from_db()
    assert parse_datetime(answer.json()["submittedAt"]) == ready.submitted_at
    review = ready.reviews.get()
    # Nobody is warned of a picture whose size is not known.
    assert [(check["name"], check["warning"]) for check in review.checks] == [(name, "") for name in CHECKS]


def test_listing_whose_thumbnail_was_removed_during_the_checks_stays_a_draft(ready: Listing) -> None:
    checks = run_submit_checks(ready)
    remove_preview(listing=ready, preview_id=ready.previews.get().pk, actor=ready.store.owner)
    with pytest.raises(SubmitChecksFailed) as refused:
        submit_checked(listing=ready, checks=checks, actor=ready.store.owner)
    assert [check["name"] for check in refused.value.members["checks"] if not check["passed"]] == ["preview_thumbnail"]
    ready.refresh_from_db()
    assert (ready.status, ready.reviews.count()) == ("Draft", 0)


def test_file_that_is_replaced_as_soon_as_its_listing_was_read_is_not_submitted(
    step: Callable[[str], Any], ready: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*words: Any) -> Listing:
        found = listing_of(*words)
        upload(ready, "2")
        return found

    monkeypatch.setattr(submission_views, "listing_of", read)
    assert problem(step("submit")) == (409, "invalid_transition")


def test_second_submit_is_refused_before_the_file_is_read(step: Callable[[str], Any], ready: Listing, media: Path) -> None:
    step("submit")
    for path in (media / "deliverables").iterdir():
        path.unlink()
    answer = step("submit")
    assert problem(answer) == (409, "invalid_transition")
    assert answer.json()["currentState"] == "PendingReview"
    assert ready.reviews.count() == 1
    update = submitted(add_candidate(published()))
    with pytest.raises(InvalidTransition) as refused:
        submit_checked(listing=update, checks=[], actor=update.store.owner)
    assert refused.value.members == {"currentState": "PendingReview"}


@pytest.mark.django_db(transaction=True)
def test_stored_file_is_compared_in_no_transaction_also_where_the_response_is_saved(
    client: APIClient, ready: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_transaction = []

    def state_of(_file: Deliverable, *, read: bool) -> StoredState:
        assert read
        in_transaction.append(connection.in_atomic_block)
        return StoredState.INTACT

    monkeypatch.setattr(submission_checks, "state_of", state_of)
    answers = [client.post(f"{ASSETS}/{ready.id}/submit", headers={"Idempotency-Key": "a"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1]["Idempotent-Replayed"] == "true"
    # The repeated request finds the listing in review, so that nothing is checked.
    assert in_transaction == [False]


@pytest.mark.slow
def test_rejected_listing_shows_findings_and_is_submitted_again(
    step: Callable[[str], Any], ready: Listing, client: APIClient, reviewer: User
) -> None:
    step("submit")
    reject_listing(review=ready.reviews.get(), findings=[{"code": "preview_poor"}], actor=reviewer, note="Nearly there.")
    item = client.get(f"{ASSETS}/{ready.id}/reviews").json()["items"][0]
    assert (item["status"], item["kind"], item["note"]) == ("Rejected", "Listing", "Nearly there.")
    assert item["findings"][0]["code"] == "preview_poor"
    assert client.get(f"{ASSETS}/{ready.id}").json()["status"] == "Rejected"
    assert step("submit").json()["status"] == "PendingReview"
    assert client.get(f"{ASSETS}/{ready.id}/reviews").json()["total"] == 2

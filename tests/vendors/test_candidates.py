"""Files on a published listing are candidates until a reviewer has approved them, line by line."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog.comparison.listings import changes_between
from catalog.models import Listing
from catalog.selectors.reviews import approvals_of
from catalog.services.review import approve_listing, reject_listing
from catalog.services.snapshots import snapshot_of
from marketplace.accounts.models import User
from marketplace.storage import default_storage
from tests.shop import bought, funded

from .attaching import show, upload
from .cases import ASSETS, PATCH, problem

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


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
    return anonymous.get(f"/api/v1/assets/{listing.slug}").json()


def waiting(listing: Listing) -> Any:
    return listing.reviews.get(status="Pending")


def test_buyers_get_the_reviewed_file_while_a_candidate_is_uploaded_submitted_rejected_or_withdrawn(
    on_sale: Listing,
    step: Callable[[str], Any],
    reviewer: User,
    client: APIClient,
    anonymous: APIClient,
    key_client: Callable[..., APIClient],
) -> None:
    reviewed = on_sale.approved_deliverable
    assert reviewed is not None
    answers: list[Any] = []
    stages: list[Callable[[], object]] = [
        lambda: None,
        lambda: step("submit"),
        lambda: reject_listing(review=waiting(on_sale), findings=[{"code": "file_broken"}], actor=reviewer),
        lambda: step("submit"),
        lambda: answers.append(step("withdraw").json()),
    ]
    for stage in stages:
        stage()
        assert shown(anonymous, on_sale)["file"]["checksum"] == reviewed.sha256
    assert [review.status for review in on_sale.reviews.order_by("id")] == ["Approved", "Rejected", "Withdrawn"]
    assert answers == [{"id": str(on_sale.pk), "status": "Published", "updateStatus": None}]
    # Each submission names the file that it was about.
    items = client.get(f"{ASSETS}/{on_sale.pk}/reviews").json()["items"]
    assert [item["file"]["id"] == str(reviewed.pk) for item in items] == [False, False, True]
    assert items[0]["file"]["id"] == str(on_sale.candidate_deliverable_id)
    Listing.objects.filter(pk=on_sale.pk).update(price_inr_minor=100)
    buyer = bought(Listing.objects.get(pk=on_sale.pk), funded(inr=1000)).buyer
    caller = key_client(buyer)
    link = caller.post(f"/api/v1/library/download/{on_sale.pk}").json()
    package = b"".join(anonymous.get(link["downloadUrl"]).streaming_content)  # type: ignore[attr-defined]  # it streams
    assert b"".join(default_storage.read(reviewed.object_key)) in package
    assert step("manifest/generate").status_code == 200
    assert caller.get(f"/api/v1/assets/{on_sale.pk}/manifest").json()["checksum"] == reviewed.sha256


@pytest.mark.slow
def test_approval_swaps_the_candidate_in(
    on_sale: Listing, step: Callable[[str], Any], reviewer: User, client: APIClient, anonymous: APIClient
) -> None:
    def record() -> Any:
        return client.get(f"{ASSETS}/{on_sale.pk}").json()

    answer, waits = step("submit").json(), record()
    assert (answer["status"], answer["updateStatus"], waits["updateStatus"]) == ("Published", "PendingReview", "PendingReview")
    assert shown(anonymous, on_sale)["file"]["checksum"] == waits["liveFile"]["checksum"] != waits["candidateFile"]["checksum"]
    approve_listing(review=waiting(on_sale), actor=reviewer)
    approved = record()
    assert (approved["liveFile"], approved["candidateFile"], approved["updateStatus"]) == (waits["candidateFile"], None, None)
    assert shown(anonymous, on_sale)["file"]["checksum"] == waits["candidateFile"]["checksum"]
    assert problem(step("submit")) == (409, "nothing_to_review")


@pytest.mark.slow
def test_candidate_under_review_cannot_be_replaced_while_texts_prices_and_previews_can_and_reviewers_see_it(
    on_sale: Listing, step: Callable[[str], Any], client: APIClient, anonymous: APIClient
) -> None:
    step("submit")
    assert problem(step("file")) == (409, "listing_locked")
    assert problem(step("submit")) == (409, "invalid_transition")
    assert client.patch(f"{ASSETS}/{on_sale.pk}", PATCH | {"title": "Aurora Neue"}, format="json").status_code == 200
    assert client.patch(f"{ASSETS}/{on_sale.pk}/regional-prices", {"priceEur": 9}, format="json").status_code == 200
    assert client.patch(f"{ASSETS}/{on_sale.pk}/licensing", {"readme": "New."}, format="json").status_code == 200
    show(on_sale, slot=1)
    detail = shown(anonymous, on_sale)
    assert (detail["title"], detail["priceEUR"], len(detail["previews"])) == ("Aurora Neue", 9.0, 2)
    fresh = Listing.objects.get(pk=on_sale.pk)
    changed = {change.name for change in changes_between(approvals_of(fresh)[0].snapshot, snapshot_of(fresh))}
    assert {"title", "previews", "file"} <= changed

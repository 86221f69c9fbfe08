"""What a picture shows and where it stands, what is removed and taken back: by whom, and what stays."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient

from catalog.comparison.listings import changes_between
from catalog.models import Deliverable, Listing, Preview
from catalog.services.snapshots import snapshot_of
from marketplace.core.audit import history_of
from marketplace.core.errors import NotFound
from tests.factories import DeliverableFactory, ListingFactory
from tests.files import makers
from vendors.errors import ListingLocked, ThumbnailNeeded, VendorNotApproved
from vendors.models import VendorProfile
from vendors.services.pictures import update_picture

from .attaching import play, show
from .cases import ASSETS, problem, publish

pytestmark = pytest.mark.django_db


def address(listing: Listing, preview: Any) -> str:
    return f"{ASSETS}/{listing.pk}/previews/{getattr(preview, 'pk', preview)}"


def places(listing: Listing) -> dict[int, uuid.UUID]:
    return dict(listing.previews.filter(kind="Gallery").values_list("slot", "pk"))


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_preview_of_another_listing_of_ones_own_is_not_found(client: APIClient, listing: Listing, method: str) -> None:
    beside = show(ListingFactory(store=listing.store), 0)
    assert problem(getattr(client, method)(address(listing, beside), {}, format="json")) == (404, "not_found")
    assert Preview.objects.get() == beside


def test_preview_that_is_no_picture_has_neither_alt_text_nor_a_position(client: APIClient, listing: Listing) -> None:
    other = play(listing)
    assert problem(client.patch(address(listing, other), {"altText": "A chime"}, format="json")) == (404, "not_found")
    assert "altText" not in client.get(f"{ASSETS}/{listing.pk}").json()["previews"][0]


def test_pictures_of_a_listing_that_was_submitted_or_whose_store_was_closed_meanwhile_stay(vendor: VendorProfile, listing: Listing) -> None:
    first, owner = show(listing, 0), vendor.user
    Listing.objects.filter(pk=listing.pk).update(status="PendingReview")
    with pytest.raises(ListingLocked):
        update_picture(listing=listing, preview_id=first.pk, actor=owner, alt_text="x")
    Listing.objects.filter(pk=listing.pk).update(status="Draft")
    vendor.store.is_open = False
    vendor.store.save()
    with pytest.raises(VendorNotApproved):
        update_picture(listing=listing, preview_id=first.pk, actor=owner, alt_text="x")
    assert Preview.objects.get().alt_text == ""


def test_published_listing_is_never_without_the_picture_on_its_card(client: APIClient, listing: Listing) -> None:
    first = show(listing, 0)
    # Neither a sound nor another listing's picture is one.
    play(listing)
    show(ListingFactory(store=listing.store), 3)
    publish(listing)
    assert problem(client.patch(address(listing, first), {"sortOrder": 3}, format="json")) == (409, "thumbnail_needed")
    assert problem(client.delete(address(listing, first))) == (409, "thumbnail_needed")
    with pytest.raises(ThumbnailNeeded):
        update_picture(listing=listing, preview_id=first.pk, actor=listing.store.owner, slot=1, alt_text="not kept either")
    assert (places(listing), listing.previews.get(kind="Gallery").alt_text) == ({0: first.pk}, "")
    # Another one, which changes the listing, may take its place.
    before = Listing.objects.get(pk=listing.pk).updated_at
    second = show(listing, 3)
    assert Listing.objects.get(pk=listing.pk).updated_at > before
    assert client.patch(address(listing, first), {"sortOrder": 3}, format="json").status_code == 200
    assert places(listing) == {0: second.pk, 3: first.pk}
    # One that is not on sale may be without it.
    for status in ("Draft", "Rejected"):
        Listing.objects.filter(pk=listing.pk).update(status=status)
        assert client.patch(address(listing, second), {"sortOrder": 1}, format="json").status_code == 200
        assert client.patch(address(listing, second), {"sortOrder": 0}, format="json").status_code == 200


@pytest.mark.slow
def test_picture_says_what_it_shows_to_everyone(client: APIClient, listing: Listing) -> None:
    first = show(listing, 0)
    publish(listing)
    before = Listing.objects.get(pk=listing.pk).updated_at
    answer = client.patch(address(listing, first), {"altText": "  Letters on a wall "}, format="json")
    assert answer.status_code == 200
    shown = {"id": str(first.pk), "assetId": str(listing.pk), "kind": "Gallery", "sortOrder": 0, "url": first.url}
    assert answer.json() == shown | {"altText": "Letters on a wall"}
    assert client.get(f"{ASSETS}/{listing.pk}").json()["previews"] == [answer.json()]
    assert APIClient().get(f"/api/v1/assets/{listing.pk}").json()["previews"] == [answer.json()]
    assert Listing.objects.get(pk=listing.pk).updated_at > before
    entry = history_of(listing)[0]
    assert (entry.action, entry.data["changed"]) == ("listing.update_preview", ["alt_text"])
    # What was read can be sent back, and changes nothing.
    assert client.patch(address(listing, first), answer.json(), format="json").json() == answer.json()
    assert client.patch(address(listing, first), {}, format="json").json() == answer.json()
    assert history_of(listing).filter(action="listing.update_preview").count() == 1
    assert client.patch(address(listing, first), {"altText": ""}, format="json").json() == shown | {"altText": ""}


@pytest.mark.slow
def test_pictures_swap_positions_and_keep_all_else(client: APIClient, listing: Listing) -> None:
    first, second = show(listing, 0), show(listing, 1)
    Preview.objects.filter(pk=first.pk).update(alt_text="First")
    before = {row["id"]: row for row in Preview.objects.values()}
    answer = client.patch(address(listing, second), {"sortOrder": 0, "altText": "Second"}, format="json")
    assert (answer.status_code, answer.json()["sortOrder"], answer.json()["altText"]) == (200, 0, "Second")
    assert places(listing) == {0: second.pk, 1: first.pk}
    before[first.pk]["slot"], before[second.pk]["slot"], before[second.pk]["alt_text"] = 1, 0, "Second"
    assert {row["id"]: row for row in Preview.objects.values()} == before
    # Into a place that is free, too; JSON knows one kind of number.
    assert client.patch(address(listing, first), '{"sortOrder": 4.0}', content_type="application/json").status_code == 200
    assert places(listing) == {0: second.pk, 4: first.pk}
    # The same once more.
    assert client.patch(address(listing, first), {"sortOrder": 4}, format="json").json()["sortOrder"] == 4


def test_reviewers_see_that_pictures_were_moved_or_described_since(listing: Listing) -> None:
    first, second = show(listing, 0), show(listing, 1)
    before = snapshot_of(listing)
    # As it was before pictures said what they show.
    assert [set(preview) for preview in before["previews"]] == [{"kind", "slot", "checksum"}] * 2
    update_picture(listing=listing, preview_id=second.pk, actor=listing.store.owner, slot=0)
    update_picture(listing=listing, preview_id=first.pk, actor=listing.store.owner, alt_text="Letters")
    (change,) = changes_between(before, snapshot_of(listing))
    assert change.name == "previews"
    assert [preview["checksum"] for preview in change.after] == [second.sha256, first.sha256]
    assert change.after[1]["altText"] == "Letters"


def test_new_picture_has_no_alt_text_and_the_same_picture_keeps_it(listing: Listing) -> None:
    first = show(listing, 0, b"same")
    update_picture(listing=listing, preview_id=first.pk, actor=listing.store.owner, alt_text="Letters")
    assert show(listing, 0, b"same").alt_text == "Letters"
    assert show(listing, 0, b"other").alt_text == ""


def test_deleting_a_preview_returns_it_and_removes_its_files(
    client: APIClient, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    first = show(listing, 1)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.delete(address(listing, first))
    assert (answer.status_code, answer.json()["id"], answer.json()["sortOrder"]) == (200, str(first.pk), 1)
    assert not Preview.objects.exists()
    assert history_of(listing)[0].data == {"kind": "Gallery", "slot": 1, "sha256": first.sha256}
    assert [path for path in media.rglob("*") if path.is_file()] == []
    with pytest.raises(NotFound):
        update_picture(listing=listing, preview_id=first.pk, actor=listing.store.owner, slot=0)


@pytest.mark.slow
def test_new_file_is_taken_back_and_what_buyers_get_stays(
    client: APIClient, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    assert problem(client.delete(f"{ASSETS}/{listing.pk}/file")) == (404, "not_found")
    publish(listing)
    live = listing.approved_deliverable
    with django_capture_on_commit_callbacks(execute=True):
        sent = client.post(f"{ASSETS}/{listing.pk}/file", makers.form(makers.archive(a_txt="x")))
        taken = client.delete(f"{ASSETS}/{listing.pk}/file")
    assert (taken.status_code, taken.json()) == (200, sent.json())
    listing.refresh_from_db()
    assert (listing.candidate_deliverable, listing.approved_deliverable) == (None, live)
    assert list(Deliverable.objects.all()) == [live]
    assert [path for path in media.rglob("*") if path.is_file()] == []


def test_new_file_that_a_reviewer_looks_at_is_not_taken_back(client: APIClient, listing: Listing) -> None:
    publish(listing)
    listing.candidate_deliverable = DeliverableFactory(listing=listing, approved_at=None)
    listing.update_status = "PendingReview"
    listing.save()
    assert problem(client.delete(f"{ASSETS}/{listing.pk}/file")) == (409, "listing_locked")
    assert Deliverable.objects.count() == 2

"""Uploading deliverables and previews."""

import errno
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import DatabaseError, OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient

from catalog.models import Deliverable, FileFacts, Listing, Preview
from catalog.services.review import approve_listing
from catalog.services.submission import withdraw_listing
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.scopes import Scope
from marketplace.storage import default_storage
from marketplace.storage.local import LocalStorage
from tests.catalog.cases import open_review, submitted
from tests.factories import ListingFactory
from tests.files import makers
from tests.files.helpers import knock, stored
from vendors.errors import ListingLocked, UploadConflict, VendorNotApproved
from vendors.models import VendorProfile
from vendors.services.files import discard_candidate
from vendors.services.profiles import suspend_vendor

from .attaching import attach, play
from .cases import ASSETS, make_vendor, problem, publish

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

# One of the deliverable and one of the previews, which share their view.
PLACES = ["file", "gallery-image?slot=0"]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_upload_is_refused_before_the_body_is_read(
    place: str,
    listing: Listing,
    client: APIClient,
    other_client: APIClient,
    anonymous: APIClient,
    bearer_client: Callable[..., APIClient],
    vendor: VendorProfile,
) -> None:
    path = f"{ASSETS}/{listing.id}/{place}"
    assert problem(knock(anonymous, path)) == (401, "not_authenticated")
    assert problem(knock(bearer_client(vendor.user, scopes={Scope.ACCOUNT_READ}), path)) == (403, "insufficient_scope")
    assert problem(knock(bearer_client(), path)) == (403, "vendor_not_approved")
    assert problem(knock(other_client, path)) == (404, "not_found")
    assert problem(knock(client, path, CONTENT_LENGTH="")) == (411, "length_required")
    assert problem(knock(client, path, CONTENT_TYPE="application/octet-stream")) == (415, "unsupported_type")
    Listing.objects.update(status="PendingReview")
    assert problem(knock(client, path)) == (409, "listing_locked")


@pytest.mark.slow
def test_uploaded_deliverable_is_returned_with_the_documented_fields(listing: Listing, client: APIClient, vendor: VendorProfile) -> None:
    content = makers.archive(Aurora_ttf=makers.font(), readme_txt="Hello.")
    answer = client.post(f"{ASSETS}/{listing.slug}/file", makers.form(content, "../up/Aurora 1.0.zip"))
    assert answer.status_code == 200
    record = answer.json()
    deliverable = Deliverable.objects.get()
    assert {name: record[name] for name in record if name != "technicalJson"} == {
        "id": str(deliverable.id),
        "assetId": str(listing.id),
        "originalFilename": "Aurora 1.0.zip",
        "fileSize": len(content),
        "checksum": hashlib.sha256(content).hexdigest(),
    }
    assert (json.loads(record["technicalJson"]), deliverable.format) == (deliverable.technical, "zip")
    assert deliverable.technical["contentsByExtension"] == {"ttf": 1, "txt": 1}
    listing.refresh_from_db()
    assert (listing.candidate_deliverable, listing.approved_deliverable, listing.status) == (deliverable, None, "Draft")
    assert b"".join(default_storage.read(deliverable.object_key)) == content
    assert deliverable.fingerprint == default_storage.fingerprint(deliverable.object_key)
    entry = history_of(listing).get()
    assert (entry.action, entry.actor, entry.data["sha256"]) == ("listing.upload_file", vendor.user, record["checksum"])


@pytest.mark.slow
def test_second_deliverable_replaces_the_first_with_its_object(
    listing: Listing, client: APIClient, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.archive(a_txt="1"))).json()
        second = client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.font(), "Aurora.ttf")).json()
    deliverable = Deliverable.objects.get()
    assert first["id"] != second["id"] == str(deliverable.id)
    assert json.loads(second["technicalJson"])["contentsByExtension"] == {"ttf": 1}
    assert stored(media) == [deliverable.object_key]


@pytest.mark.slow
def test_object_that_cannot_be_removed_undoes_nothing(
    listing: Listing,
    client: APIClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def refuse(*_: object) -> None:
        raise DependencyUnavailable

    client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.archive(a_txt="1")))
    monkeypatch.setattr(LocalStorage, "delete", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        second = client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.font(), "Aurora.ttf"))
    assert second.status_code == 200
    assert str(Deliverable.objects.get().pk) == second.json()["id"]
    assert "in on_commit()" in caplog.text


def test_one_of_two_concurrent_uploads_wins_and_the_other_leaves_nothing(listing: Listing, vendor: VendorProfile, media: Path) -> None:
    slow = Listing.objects.get(pk=listing.pk)
    winner = attach(listing, b"fast")
    with pytest.raises(UploadConflict):
        attach(slow, b"slow")
    assert Deliverable.objects.get() == winner
    assert stored(media) == [winner.object_key]


@pytest.mark.parametrize("end", ["discarded", "approved"])
def test_upload_that_was_to_replace_a_file_discarded_or_approved_meanwhile_is_kept(
    end: str, listing: Listing, vendor: VendorProfile, reviewer: User
) -> None:
    slow = attach(listing, b"first").listing
    if end == "discarded":
        discard_candidate(listing=slow, actor=vendor.user)
    else:
        approve_listing(review=open_review(submitted(slow)), actor=reviewer)
    uploaded = attach(slow, b"slow")
    assert Listing.objects.get(pk=listing.pk).candidate_deliverable == uploaded


def test_facts_stay_of_files_that_are_there_or_were_submitted_with_the_listing(listing: Listing, vendor: VendorProfile) -> None:
    listing = withdraw_listing(listing=submitted(attach(listing, b"submitted").listing), actor=vendor.user)
    submitted(attach(ListingFactory(store=vendor.store), b"submitted with another listing").listing)
    for content in (b"submitted with another listing", b"there"):
        listing = attach(listing, content).listing
    kept = {hashlib.sha256(content).hexdigest() for content in (b"submitted", b"there")}
    assert set(FileFacts.objects.filter(listing=listing).values_list("sha256", flat=True)) == kept


def test_body_that_came_while_the_listing_was_submitted_or_its_vendor_suspended_is_refused(
    listing: Listing, vendor: VendorProfile, media: Path
) -> None:
    publish(listing)
    Listing.objects.update(update_status="PendingReview")
    with pytest.raises(ListingLocked) as locked:
        attach(listing, b"late")
    assert locked.value.members == {"currentState": "PendingReview"}
    Listing.objects.update(status="PendingReview", update_status="")
    with pytest.raises(ListingLocked):
        attach(listing, b"late")
    with pytest.raises(ListingLocked):
        play(listing)
    Listing.objects.update(status="Draft")
    suspend_vendor(profile=vendor, reason="because", actor=make_vendor().user)
    with pytest.raises(VendorNotApproved) as refusal:
        attach(listing, b"late")
    assert refusal.value.members == {"vendorStatus": "Suspended"}
    assert stored(media) == []


@pytest.mark.slow
def test_gallery_image_is_in_its_slot_in_place_of_the_one_before(
    listing: Listing,
    client: APIClient,
    anonymous: APIClient,
    media: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    path = f"{ASSETS}/{listing.id}/gallery-image?slot=2"
    with django_capture_on_commit_callbacks(execute=True):
        other = client.post(f"{ASSETS}/{listing.id}/gallery-image?slot=1", makers.form(makers.picture())).json()
        first = client.post(path, makers.form(makers.picture())).json()
        second = client.post(path, makers.form(makers.picture(colour="red"))).json()
    assert (second["kind"], second["sortOrder"], second["altText"]) == ("Gallery", 2, "")
    assert client.get(second["url"]).status_code == 200
    assert problem(anonymous.get(second["url"])) == (404, "not_found")
    assert problem(client.get(first["url"])) == (404, "not_found")
    assert {str(row.id) for row in Preview.objects.all()} == {other["id"], second["id"]}
    assert stored(media) == sorted(f"previews/{record['id']}{name}" for record in (other, second) for name in ("", ".card"))
    assert first["id"] != second["id"]
    uploads = [(entry.data["slot"], entry.data["preview"]) for entry in history_of(listing)]
    assert uploads == [(2, second["id"]), (2, first["id"]), (1, other["id"])]


@pytest.mark.slow
def test_preview_of_a_published_listing_is_live_at_once(listing: Listing, client: APIClient, anonymous: APIClient) -> None:
    publish(listing)
    before = anonymous.get(f"/api/v1/assets/{listing.slug}")
    record = client.post(f"{ASSETS}/{listing.id}/gallery-image?slot=0", makers.form(makers.picture())).json()
    after = anonymous.get(f"/api/v1/assets/{listing.slug}", headers={"If-None-Match": before["ETag"]})
    assert after.status_code == 200
    assert after.json()["previews"] == [record]
    assert anonymous.get(record["url"]).status_code == 200


def test_objects_of_a_preview_whose_record_fails_are_removed(listing: Listing, media: Path) -> None:
    with pytest.raises(DatabaseError):
        # No database takes a NaN as JSON.
        play(listing, duration=float("nan"))
    assert stored(media) == []


def test_files_of_a_preview_whose_commit_is_uncertain_are_left_to_the_sweep(
    listing: Listing, vendor: VendorProfile, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(Preview, "save", lost)
    with pytest.raises(OperationalError):
        play(listing)
    assert len(stored(media)) == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_during_the_inspection_is_a_503(
    number: int, listing: Listing, client: APIClient, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(number, "full")

    monkeypatch.setattr("vendors.form_uploads.inspect_deliverable", full)
    answer = client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.archive(a_txt="1")))
    assert problem(answer) == (503, "dependency_unavailable")
    assert answer["Retry-After"]
    assert stored(media) == []

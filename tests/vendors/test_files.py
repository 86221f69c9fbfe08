"""Uploading deliverables and previews."""

import errno
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient

from catalog.models import Deliverable, FileFacts, Listing, Preview
from catalog.models.files import PreviewKind
from catalog.services.submission import withdraw_listing
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.scopes import Scope
from marketplace.storage import default_storage
from marketplace.storage.local import LocalStorage
from tests.catalog.cases import submitted
from tests.factories import ListingFactory
from tests.files import makers
from tests.files.helpers import knock, stored
from vendors.errors import ListingLocked, UploadConflict, VendorNotApproved
from vendors.inspection import Inspection
from vendors.models import VendorProfile
from vendors.previews import ProcessedPreview
from vendors.services.files import attach_deliverable, attach_preview, new_deliverable_key
from vendors.services.profiles import suspend_vendor
from vendors.uploads.receiving import Received

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
    technical = json.loads(record["technicalJson"])
    assert (technical["format"], technical["entryCount"], deliverable.format) == ("zip", 2, "zip")
    assert technical["contentsByExtension"] == {"ttf": 1, "txt": 1}
    assert technical["uncompressedSize"] == len(makers.font()) + len("Hello.")
    assert technical["glyphCount"] == 3
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


def received(content: bytes = b"x") -> Received:
    """Store bytes as an upload does."""
    store, key = default_storage, new_deliverable_key()
    store.save_bytes(key, content)
    return Received(store, key, "a.zip", len(content), hashlib.sha256(content).hexdigest(), 0)


INSPECTION = Inspection("zip", {"format": "zip"})


def test_one_of_two_concurrent_uploads_wins_and_the_other_leaves_nothing(listing: Listing, vendor: VendorProfile, media: Path) -> None:
    slow = Listing.objects.get(pk=listing.pk)
    with received(b"fast") as fast:
        winner = attach_deliverable(listing=listing, received=fast, inspection=INSPECTION, actor=vendor.user)
    with pytest.raises(UploadConflict), received(b"slow") as late:
        attach_deliverable(listing=slow, received=late, inspection=INSPECTION, actor=vendor.user)
    assert Deliverable.objects.get() == winner
    assert stored(media) == [winner.object_key]


def test_facts_stay_of_files_that_are_there_or_were_submitted_with_the_listing(listing: Listing, vendor: VendorProfile) -> None:
    def attach(listing: Listing, content: bytes) -> Listing:
        with received(content) as file:
            attach_deliverable(listing=listing, received=file, inspection=INSPECTION, actor=vendor.user)
        return Listing.objects.get(pk=listing.pk)

    listing = withdraw_listing(listing=submitted(attach(listing, b"submitted")), actor=vendor.user)
    submitted(attach(ListingFactory(store=vendor.store), b"submitted with another listing"))
    for content in (b"submitted with another listing", b"there"):
        listing = attach(listing, content)
    kept = {hashlib.sha256(content).hexdigest() for content in (b"submitted", b"there")}
    assert set(FileFacts.objects.filter(listing=listing).values_list("sha256", flat=True)) == kept


def sound(*, listing: Listing, actor: User, **details: Any) -> Preview:
    """Attach a sound as an upload does."""
    processed = ProcessedPreview(b"x", "audio/wav", details, {})
    return attach_preview(listing=listing, kind=PreviewKind.AUDIO_PREVIEW, processed=processed, actor=actor)


def test_body_that_came_while_the_listing_was_submitted_or_its_vendor_suspended_is_refused(
    listing: Listing, vendor: VendorProfile, media: Path
) -> None:
    publish(listing)
    Listing.objects.update(update_status="PendingReview")
    with pytest.raises(ListingLocked) as locked, received() as late:
        attach_deliverable(listing=listing, received=late, inspection=INSPECTION, actor=vendor.user)
    assert locked.value.members == {"currentState": "PendingReview"}
    Listing.objects.update(status="PendingReview", update_status="")
    with pytest.raises(ListingLocked), received() as late:
        attach_deliverable(listing=listing, received=late, inspection=INSPECTION, actor=vendor.user)
    with pytest.raises(ListingLocked):
        sound(listing=listing, actor=vendor.user)
    Listing.objects.update(status="Draft")
    suspend_vendor(profile=vendor, reason="because", actor=make_vendor().user)
    with pytest.raises(VendorNotApproved) as refusal, received() as late:
        attach_deliverable(listing=listing, received=late, inspection=INSPECTION, actor=vendor.user)
    assert refusal.value.members == {"vendorStatus": "Suspended"}
    assert stored(media) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "content", "kind", "content_type"),
    [
        ("font-specimen", makers.font(flavor="woff2"), "FontSpecimen", "font/woff2"),
        ("audio-preview", makers.sound("WAV", 0.1), "AudioPreview", "audio/wav"),
    ],
)
def test_uploaded_preview_is_returned_with_the_documented_fields(
    place: str, content: bytes, kind: str, content_type: str, listing: Listing, client: APIClient
) -> None:
    answer = client.post(f"{ASSETS}/{listing.id}/{place}", makers.form(content))
    assert answer.status_code == 200, answer.json()
    preview = Preview.objects.get()
    assert answer.json() == {"id": str(preview.id), "assetId": str(listing.id), "kind": kind, "url": f"/api/v1/previews/{preview.id}"}
    assert default_storage.size(preview.object_key) == preview.size
    shown = client.get(f"/api/v1/previews/{preview.id}")
    assert (shown.status_code, shown["Content-Type"]) == (200, content_type)


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


def test_objects_of_a_preview_whose_record_fails_are_removed(listing: Listing, vendor: VendorProfile, media: Path) -> None:
    with pytest.raises(DatabaseError):
        # No database takes a NaN as JSON.
        sound(listing=listing, actor=vendor.user, duration=float("nan"))
    assert stored(media) == []


def test_files_of_a_preview_whose_commit_is_uncertain_are_left_to_the_sweep(
    listing: Listing, vendor: VendorProfile, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(Preview, "save", lost)
    with pytest.raises(OperationalError):
        sound(listing=listing, actor=vendor.user)
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


@pytest.mark.slow
def test_listing_record_contains_files_and_previews(listing: Listing, client: APIClient) -> None:
    file = client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.archive(a_txt="1"))).json()
    image = client.post(f"{ASSETS}/{listing.id}/gallery-image?slot=0", makers.form(makers.picture())).json()
    record = client.get(f"{ASSETS}/{listing.id}").json()
    assert (record["liveFile"], record["candidateFile"], record["previews"]) == (None, file, [image])

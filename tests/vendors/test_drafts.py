"""Drafts: until the first submission the slug can be changed and the draft deleted, later neither."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from catalog.models import AgentManifest, Deliverable, Listing, Preview
from catalog.services.submission import unpublish_listing
from marketplace.core.models import AuditEntry
from marketplace.storage import default_storage
from tests.factories import ListingFactory
from tests.files.makers import form, picture, zipped
from tests.studio.cases import once_submitted, published, ready
from vendors.inspection import inspect_deliverable
from vendors.models import VendorProfile
from vendors.services.manifests import generate_manifest

from .cases import ASSETS, CREATE, PATCH

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def once_on_sale(listing: Listing) -> Listing:
    """Return a draft that was on sale, which some may have bought."""
    return unpublish_listing(listing=published(listing), actor=listing.store.owner)


def test_slug_of_a_draft_is_changed_and_the_old_one_is_free(client: APIClient, listing: Listing) -> None:
    assert client.patch(f"{ASSETS}/aurora-sans", PATCH | {"slug": "aurora-serif"}, format="json").status_code == 200
    listing.refresh_from_db()
    assert listing.slug == "aurora-serif"
    assert client.get(f"{ASSETS}/aurora-sans").status_code == 404
    assert client.get(f"{ASSETS}/aurora-serif").json()["id"] == str(listing.pk)
    assert client.post(ASSETS, CREATE, format="json").json()["slug"] == "aurora-sans"
    changes = AuditEntry.objects.get(action="listing.update").data["changes"]
    assert changes["slug"] == ["aurora-sans", "aurora-serif"]


def test_slug_of_another_listing_is_taken_and_nothing_changes(client: APIClient, listing: Listing) -> None:
    ListingFactory(slug="taken")
    answer = client.patch(f"{ASSETS}/{listing.pk}", PATCH | {"slug": "taken", "title": "Other"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "slug_taken")
    before = listing.title
    listing.refresh_from_db()
    assert (listing.slug, listing.title) == ("aurora-sans", before)


@pytest.mark.slow
@pytest.mark.parametrize("make", [once_submitted, once_on_sale, published], ids=lambda make: make.__name__)
def test_listing_that_was_submitted_keeps_its_slug_and_is_not_deleted(
    make: Callable[[Listing], Listing], client: APIClient, listing: Listing
) -> None:
    make(listing)
    same = client.patch(f"{ASSETS}/{listing.pk}", PATCH | {"slug": "aurora-sans"}, format="json")
    other = client.patch(f"{ASSETS}/{listing.pk}", PATCH | {"slug": "aurora-serif", "title": "Other"}, format="json")
    assert (same.status_code, other.status_code, other.json()["code"]) == (200, 409, "slug_locked")
    listing.refresh_from_db()
    assert (listing.slug, listing.title) == ("aurora-sans", PATCH["title"])
    answer = client.delete(f"{ASSETS}/{listing.pk}")
    assert (answer.status_code, answer.json()["code"]) == (409, "draft_not_deletable")
    assert Listing.objects.filter(pk=listing.pk).exists()
    assert not AuditEntry.objects.filter(action="listing.delete").exists()


@pytest.mark.slow
def test_deleted_draft_is_gone_with_its_files(client: APIClient, vendor: VendorProfile, listing: Listing) -> None:
    parts = [("file", zipped({"a.txt": b"a"}), "a.zip"), ("gallery-image?slot=0", picture(size=(600, 400)), "a.png")]
    for place, content, name in parts:
        assert client.post(f"{ASSETS}/{listing.pk}/{place}", form(content, name), format="multipart").status_code == 200
    generate_manifest(listing=listing, actor=vendor.user)
    stored = [Deliverable.objects.get().object_key, Preview.objects.get().object_key]
    stored += [copy["key"] for copy in Preview.objects.get().renditions.values()]
    with TestCase.captureOnCommitCallbacks() as after_commit:
        answer = client.delete(f"{ASSETS}/aurora-sans")
    assert (answer.status_code, answer.json()) == (200, {"id": str(listing.pk)})
    for model in (Listing, Deliverable, Preview, AgentManifest):
        assert not model.objects.exists()
    # The files leave the store only when the deletion is certain.
    assert all(default_storage.size(key) for key in stored)
    for callback in after_commit:
        callback()
    for key in stored:
        with pytest.raises(FileNotFoundError):
            default_storage.size(key)
    entry = AuditEntry.objects.get(action="listing.delete")
    assert (entry.actor, entry.subject_id, entry.data["slug"]) == (vendor.user, str(listing.pk), "aurora-sans")
    assert client.get(f"{ASSETS}/{listing.pk}").status_code == 404
    assert client.delete(f"{ASSETS}/{listing.pk}").status_code == 404
    assert client.post(ASSETS, CREATE, format="json").status_code == 200


def test_draft_with_a_malicious_file_is_kept_as_evidence(client: APIClient, listing: Listing) -> None:
    ready(listing)
    Deliverable.objects.update(blocked_at=listing.created_at)
    assert client.delete(f"{ASSETS}/{listing.pk}").json()["code"] == "draft_not_deletable"
    assert Deliverable.objects.exists()


def test_deleting_a_draft_leaves_the_vendors_other_listings_and_their_files(client: APIClient, listing: Listing) -> None:
    others = [ready(ListingFactory(store=listing.store)), ready(ListingFactory())]
    before = list(Listing.objects.exclude(pk=listing.pk).order_by("pk").values())
    assert client.delete(f"{ASSETS}/{listing.pk}").status_code == 200
    assert list(Listing.objects.order_by("pk").values()) == before
    assert {file.listing_id for file in Deliverable.objects.all()} == {other.pk for other in others}


@pytest.mark.slow
def test_upload_to_a_draft_that_was_deleted_meanwhile_leaves_nothing(
    client: APIClient, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[str] = []

    def delete_meanwhile(*, storage: Any, key: str, size: int, sender: str) -> Any:
        stored.append(key)
        client.delete(f"{ASSETS}/{listing.pk}")
        return inspect_deliverable(storage=storage, key=key, size=size, sender=sender)

    monkeypatch.setattr("vendors.form_uploads.inspect_deliverable", delete_meanwhile)
    answer = client.post(f"{ASSETS}/{listing.pk}/file", form(zipped({"a.txt": b"a"}), "a.zip"), format="multipart")
    assert answer.status_code == 404
    with pytest.raises(FileNotFoundError):
        default_storage.size(stored[0])

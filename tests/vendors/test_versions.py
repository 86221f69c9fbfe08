"""What was approved stays: buyers may download it, the vendor sees it, and two files never share a label."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient

from catalog import bounds
from catalog.models import Deliverable, Listing
from catalog.selectors.listings import approved_versions, deliverable_of_version
from catalog.services.review import approve_listing, block_deliverable
from marketplace.storage import default_storage
from tests.catalog.cases import open_review, submitted
from tests.factories import DeliverableFactory, UserFactory
from tests.files import makers

from .attaching import upload
from .cases import ASSETS

pytestmark = pytest.mark.django_db


def release(listing: Listing, version: str, content: str) -> Deliverable:
    upload(listing, content)
    Listing.objects.filter(pk=listing.pk).update(version=version)
    listing = submitted(Listing.objects.get(pk=listing.pk))
    approve_listing(review=open_review(listing), actor=UserFactory())
    file = Listing.objects.get(pk=listing.pk).approved_deliverable
    assert file is not None
    return file


def history(client: APIClient, listing: Listing, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"{ASSETS}/{listing.id}/files", query).json()["items"]
    return items


@pytest.mark.slow
def test_version_history_shows_each_file_with_its_status(listing: Listing, client: APIClient) -> None:
    files = [release(listing, version, version) for version in ("1.0", "1.1", "2.0")]
    block_deliverable(deliverable=files[0], reason="malware", actor=UserFactory())
    candidate = client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.archive(a_txt="next"))).json()
    items = history(client, listing)
    assert [(item["version"], item["status"]) for item in items] == [
        ("", "candidate"),
        ("2.0", "live"),
        ("1.1", "superseded"),
        ("1.0", "blocked"),
    ]
    for name in ("id", "originalFilename", "fileSize", "checksum"):
        assert items[0][name] == candidate[name]
    assert items[0]["approvedAt"] is None
    assert all(item["approvedAt"] >= item["uploadedAt"] for item in items[1:])


def test_history_is_read_in_pages_with_few_queries(
    listing: Listing, client: APIClient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        DeliverableFactory(listing=listing, version=f"1.{number}")
    client.get(f"{ASSETS}/{listing.id}/files")
    with django_assert_max_num_queries(5):
        first = client.get(f"{ASSETS}/{listing.id}/files", {"limit": "2"}).json()
    assert (first["total"], [item["version"] for item in first["items"]]) == (5, ["1.4", "1.3"])
    assert [item["version"] for item in history(client, listing, limit="2", page="3")] == ["1.0"]


@pytest.mark.slow
def test_superseded_file_stays_with_its_object(
    listing: Listing, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        old = release(listing, "1.0", "old")
        for content in ("first try", "second try"):
            upload(listing, content)
        new = release(listing, "2.0", "new")
    assert list(approved_versions(listing)) == [new, old]
    # Tries that no one approved are gone.
    assert {key for key, _ in default_storage.keys_with_times("deliverables/")} == {old.object_key, new.object_key}


@pytest.mark.slow
def test_blocked_candidate_stays_as_evidence(
    listing: Listing, client: APIClient, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    upload(listing, "bad")
    bad = Deliverable.objects.get()
    block_deliverable(deliverable=bad, reason="malware", actor=UserFactory())
    with django_capture_on_commit_callbacks(execute=True):
        upload(listing, "good")
    assert [item["status"] for item in history(client, listing)] == ["candidate", "blocked"]
    assert default_storage.size(bad.object_key) == bad.file_size


@pytest.mark.slow
def test_repeated_version_label_gets_a_number_within_the_maximum_length(listing: Listing) -> None:
    assert [release(listing, "1.0", str(number)).version for number in range(3)] == ["1.0", "1.0+2", "1.0+3"]
    long = "x" * bounds.VERSION_CHARS
    assert [release(listing, long, f"long {number}").version for number in range(2)] == [long, long[:-2] + "+2"]


@pytest.mark.slow
def test_version_is_found_by_its_label_in_its_own_listing(listing: Listing) -> None:
    old, new = release(listing, "1.0", "old"), release(listing, "2.0", "new")
    foreign = DeliverableFactory(version="3.0")
    candidate = DeliverableFactory(listing=listing, version="4.0", approved_at=None)
    DeliverableFactory(listing=listing, version="")
    labels = ("1.0", "2.0", "1.0 ", "3.0", "4.0", "")
    assert [deliverable_of_version(listing, label) for label in labels] == [old, new, None, None, None, None]
    assert [deliverable_of_version(listing, str(file.pk)) for file in (foreign, candidate)] == [None, None]


def test_database_refuses_a_label_twice(listing: Listing) -> None:
    DeliverableFactory(listing=listing, version="1.0")
    DeliverableFactory(listing=listing, version="1.0", approved_at=None)
    DeliverableFactory(version="1.0")
    with pytest.raises(IntegrityError), transaction.atomic():
        DeliverableFactory(listing=listing, version="1.0")

"""What a vendor may keep that no reviewer has approved."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Deliverable, Listing, Preview
from marketplace.core.bounds import GIB
from marketplace.core.errors import NotFound
from tests.factories import ListingFactory
from tests.files import makers
from tests.files.helpers import knock, stored
from vendors import bounds
from vendors.models import Upload, VendorProfile
from vendors.selectors import unapproved_bytes
from vendors.services.uploads import append_part

from .cases import ASSETS, CREATE, make_vendor, problem, publish
from .test_uploads import TUS, create, finish, uploaded

pytestmark = pytest.mark.django_db
ARCHIVE, NOW = makers.archive(a_txt="1"), timezone.now()


@pytest.fixture(autouse=True)
def limit(settings: Any) -> int:
    settings.VENDOR_UNAPPROVED_GIB = 1
    return GIB


def kept_by(vendor: VendorProfile, size: int) -> Deliverable:
    """Give the vendor another draft, with a file of so many bytes that no reviewer has approved."""
    other: Listing = ListingFactory(store=vendor.store)
    other.candidate_deliverable = Deliverable.objects.create(
        listing=other, object_key=f"deliverables/{other.pk}", original_filename="a.zip", file_size=size, sha256="0" * 64, crc32=0
    )
    other.save()
    return other.candidate_deliverable


def refusals(client: APIClient, listing: Listing) -> list[tuple[int, str]]:
    """Return what a file, a picture and the beginning of a resumable upload are answered."""
    answers = [
        client.post(f"{ASSETS}/{listing.pk}/file", makers.form(ARCHIVE)),
        client.post(f"{ASSETS}/{listing.pk}/gallery-image?slot=0", makers.form(makers.picture())),
        create(client, listing, len(ARCHIVE)),
    ]
    return [(answer.status_code, answer.json().get("code", "")) for answer in answers]


def test_upload_beyond_the_storage_limit_of_a_vendor_is_refused_with_the_used_amount(
    client: APIClient, listing: Listing, vendor: VendorProfile, media: Path, limit: int
) -> None:
    kept_by(vendor, limit)
    assert refusals(client, listing) == [(409, "unapproved_storage_full")] * 3
    answer = create(client, listing, 1).json()
    assert (answer["maximumBytes"], answer["usedBytes"]) == (limit, limit)
    assert stored(media) == []
    assert not Upload.objects.exists()


@pytest.mark.parametrize("changes", [{"approved_at": NOW}, {"blocked_at": NOW}])
def test_approved_and_blocked_files_and_those_of_others_do_not_count(
    changes: dict[str, Any], client: APIClient, listing: Listing, vendor: VendorProfile, limit: int
) -> None:
    Deliverable.objects.filter(pk=kept_by(vendor, limit).pk).update(**changes)
    kept_by(make_vendor(), limit)
    assert [status for status, _ in refusals(client, listing)] == [200, 200, 201]


def test_file_that_was_unblocked_after_it_was_replaced_does_not_count(vendor: VendorProfile, limit: int) -> None:
    file = kept_by(vendor, limit)
    Listing.objects.filter(pk=file.listing_id).update(candidate_deliverable=None)
    assert unapproved_bytes(vendor.store) == 0


@pytest.mark.slow
def test_file_that_replaces_another_counts_once(client: APIClient, listing: Listing, vendor: VendorProfile, limit: int) -> None:
    kept_by(vendor, limit - len(ARCHIVE))
    for _ in range(2):
        assert client.post(f"{ASSETS}/{listing.pk}/file", makers.form(ARCHIVE)).status_code == 200
    assert unapproved_bytes(vendor.store) == limit


@pytest.mark.slow
def test_upload_in_parts_counts_with_its_announced_length_until_it_is_finished_or_deleted(
    small_parts: None, client: APIClient, listing: Listing, vendor: VendorProfile, limit: int
) -> None:
    kept_by(vendor, limit - len(ARCHIVE))
    address = uploaded(client, listing, ARCHIVE)
    assert refusals(client, listing) == [(409, "unapproved_storage_full")] * 3
    assert finish(client, address).status_code == 200
    assert unapproved_bytes(vendor.store) == limit
    client.delete(f"{ASSETS}/{listing.pk}/file")
    assert create(client, listing, len(ARCHIVE)).status_code == 201
    assert problem(create(client, listing, 1)) == (409, "unapproved_storage_full")


def test_expired_upload_leaves_its_room_and_does_not_go_on(
    small_parts: None, client: APIClient, listing: Listing, vendor: VendorProfile, limit: int
) -> None:
    address = create(client, listing, limit)["Location"]
    assert problem(create(client, listing, 1)) == (409, "unapproved_storage_full")
    expired = Upload.objects.get()
    Upload.objects.update(expires_at=timezone.now())
    assert unapproved_bytes(vendor.store) == 0
    assert create(client, listing, limit).status_code == 201
    assert client.delete(address, headers=TUS).status_code == 404
    # A part that began to arrive before.
    with pytest.raises(NotFound):
        append_part(upload=expired, offset=0, key="uploads/a", size=100, actor=vendor.user)


def test_file_that_is_too_large_for_the_room_is_refused_before_it_is_received(
    client: APIClient, listing: Listing, vendor: VendorProfile, limit: int
) -> None:
    kept_by(vendor, limit - 1)
    answer = knock(client, f"{ASSETS}/{listing.pk}/file", CONTENT_LENGTH=str(2 * bounds.MULTIPART_OVERHEAD_BYTES))
    assert problem(answer) == (409, "unapproved_storage_full")


@pytest.mark.slow
def test_previews_of_a_listing_on_sale_do_not_count(client: APIClient, listing: Listing, vendor: VendorProfile, limit: int) -> None:
    assert client.post(f"{ASSETS}/{listing.pk}/gallery-image?slot=0", makers.form(makers.picture())).status_code == 200
    assert unapproved_bytes(vendor.store) == Preview.objects.get().size
    publish(listing)
    Deliverable.objects.update(approved_at=NOW)
    assert unapproved_bytes(vendor.store) == 0
    kept_by(vendor, limit)
    assert client.post(f"{ASSETS}/{listing.pk}/gallery-image?slot=1", makers.form(makers.picture())).status_code == 200


@pytest.mark.parametrize("status", ["Draft", "PendingReview"])
def test_vendor_at_the_limit_of_drafts_cannot_create_another(
    status: str, client: APIClient, listing: Listing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_DRAFTS", 1)
    body = CREATE | {"slug": "borealis"}
    Listing.objects.update(status=status)
    answer = client.post(ASSETS, body, format="json")
    assert (problem(answer), answer.json()["maximum"]) == ((409, "too_many_drafts"), 1)
    publish(listing)
    assert client.post(ASSETS, body, format="json").status_code == 200

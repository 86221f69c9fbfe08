"""Versions: the bought one and all since can be fetched; nothing older, nothing blocked, nothing unreviewed."""

import hashlib
import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Deliverable, Listing
from library.models import DownloadLink
from library.services.licences import suspend_licences
from marketplace.accounts.models import User
from tests.contract.calls import refused
from tests.factories import DeliverableFactory
from tests.shop import archive, bought, funded, on_sale, store_file
from wallet.models import Order
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


@pytest.fixture
def buyer() -> User:
    return funded(inr=1_000_000)


@pytest.fixture
def client(bearer_client: Callable[..., APIClient], buyer: User) -> APIClient:
    return bearer_client(buyer)


@pytest.fixture
def listing() -> Listing:
    listing = on_sale(archive("1.0"), version="1.0")
    Deliverable.objects.filter(listing=listing).update(version="1.0")
    listing.refresh_from_db()
    return listing


def release(listing: Listing, label: str) -> Deliverable:
    """Let a reviewer have approved another file, a day later than the one before it."""
    assert listing.approved_deliverable is not None
    before = listing.approved_deliverable.approved_at
    assert before is not None
    file: Deliverable = DeliverableFactory(listing=listing, version=label, approved_at=before + timedelta(days=1))
    listing.approved_deliverable, listing.version = file, label
    listing.save()
    store_file(listing, archive(label))
    return file


def ask(client: APIClient, listing: Listing, version: str | None = None) -> Any:
    query = "" if version is None else f"?version={version}"
    return client.post(f"/api/v1/library/download/{listing.id}{query}")


def labels(client: APIClient, listing: Listing) -> list[str]:
    return [item["version"] for item in client.get(f"/api/v1/library/{listing.id}/versions").json()["items"]]


def test_version_that_is_unknown_not_reviewed_or_of_another_listing_is_not_found(client: APIClient, listing: Listing, buyer: User) -> None:
    bought(listing, buyer)
    other = on_sale(archive("other"), version="7.0")
    candidate = DeliverableFactory(listing=listing, version="", approved_at=None)
    listing.candidate_deliverable = candidate
    listing.save()
    for version in ("9.9", "00000000-0000-7000-8000-000000000000", "7.0", str(other.approved_deliverable_id), str(candidate.id)):
        refused(ask(client, listing, version), 404, "not_found")
    refused(ask(client, listing, "x" * 37), 400, "invalid_input")
    assert labels(client, listing) == ["1.0"]


def test_older_version_than_the_bought_one_is_not_part_of_the_licence(client: APIClient, listing: Listing, buyer: User) -> None:
    release(listing, "2.0")
    bought(listing, buyer)
    assert labels(client, listing) == ["2.0"]
    refused(ask(client, listing, "1.0"), 403, "not_owned")


def test_blocked_version_is_withdrawn(client: APIClient, listing: Listing, buyer: User) -> None:
    bought(listing, buyer)
    file = release(listing, "2.0")
    Deliverable.objects.filter(pk=file.pk).update(blocked_at=timezone.now())
    assert labels(client, listing) == ["1.0"]
    refused(ask(client, listing, "2.0"), 410, "file_blocked")


def test_newest_clean_version_is_downloaded_instead_of_a_blocked_one(
    client: APIClient, browse: Callable[..., Any], listing: Listing, buyer: User
) -> None:
    order = bought(listing, buyer)
    between, newest = release(listing, "2.0"), release(listing, "3.0")
    for file in (newest, order.deliverable):
        Deliverable.objects.filter(pk=file.pk).update(blocked_at=timezone.now())
        (item,) = client.get("/api/v1/library").json()["items"]
        assert (item["version"], item["file"]["id"]) == ("2.0", str(between.pk))
        assert ask(client, listing).json()["fileName"].endswith("-2.0-package.zip")
        assert "version 2.0" in browse(buyer).get("/dashboard/library").content.decode()
        assert between.sha256 in browse(buyer).get(f"/dashboard/library/{listing.slug}").content.decode()
    Deliverable.objects.filter(pk=between.pk).update(blocked_at=timezone.now())
    refused(ask(client, listing), 410, "file_blocked")
    assert client.get("/api/v1/library").json()["items"][0]["file"] is None


def test_version_older_than_the_bought_one_is_not_downloaded_instead_of_a_blocked_one(
    client: APIClient, listing: Listing, buyer: User
) -> None:
    file = release(listing, "2.0")
    bought(listing, buyer)
    Deliverable.objects.filter(pk=file.pk).update(blocked_at=timezone.now())
    refused(ask(client, listing), 410, "file_blocked")


def test_file_of_another_licence_of_the_same_asset_is_downloaded_instead_of_a_blocked_one(
    client: APIClient, browse: Callable[..., Any], listing: Listing, buyer: User
) -> None:
    bought(listing, buyer, license_slug="personal")
    file = release(listing, "2.0")
    bought(listing, buyer, license_slug="commercial")
    Deliverable.objects.filter(pk=file.pk).update(blocked_at=timezone.now())
    assert ask(client, listing).json()["fileName"].endswith("-1.0-package.zip")
    # The certificate is that of the wider licence, whatever can be downloaded.
    certificate = client.get(f"/api/v1/library/{listing.id}/certificate").json()["certificate"]
    assert certificate["license"]["slug"] == "commercial"
    page = browse(buyer).get(f"/dashboard/library/{listing.slug}").content.decode()
    assert "malicious" not in page
    suspend_licences(order_ids=Order.objects.filter(license_slug="personal").values_list("pk", flat=True), reason="disputed")
    refused(ask(client, listing), 410, "file_blocked")


def test_owner_gets_the_newest_or_an_owned_older_version(anonymous: APIClient, client: APIClient, listing: Listing, buyer: User) -> None:
    bought(listing, buyer)
    release(listing, "2.0")
    assert labels(client, listing) == ["2.0", "1.0"]
    item = client.get("/api/v1/library").json()["items"][0]
    assert (item["version"], item["boughtVersion"]) == ("2.0", "1.0")
    for version, text in ((None, "2.0"), ("1.0", "1.0"), ("2.0", "2.0")):
        link = ask(client, listing, version).json()
        assert link["fileName"] == f"{listing.slug}-{text}-package.zip"
        data = b"".join(anonymous.get(link["downloadUrl"]).streaming_content)  # type: ignore[attr-defined]  # a streamed answer
        assert hashlib.sha256(data).hexdigest() == link["checksum"]
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            assert package.read("archive.zip") == archive(text)


def test_version_is_found_by_id_where_it_has_no_label(client: APIClient, buyer: User) -> None:
    listing = on_sale(archive(), version="")
    bought(listing, buyer)
    (item,) = client.get(f"/api/v1/library/{listing.id}/versions").json()["items"]
    assert item["version"] == ""
    assert ask(client, listing, item["id"]).status_code == 200


def test_earlier_file_without_a_label_does_not_get_that_of_the_file_on_sale(
    client: APIClient, browse: Callable[..., Any], buyer: User
) -> None:
    listing = on_sale(archive(), version="")
    order = bought(listing, buyer)
    release(listing, "2.0")
    assert labels(client, listing) == ["2.0", ""]
    assert ask(client, listing, str(order.deliverable_id)).json()["fileName"] == f"{listing.slug}-package.zip"
    assert "not numbered" in browse(buyer).get(f"/dashboard/library/{listing.slug}").content.decode()


def test_versions_cost_the_same_however_many(client: APIClient, listing: Listing, buyer: User, django_assert_max_num_queries: Any) -> None:
    bought(listing, buyer)
    for number in range(5):
        release(listing, f"2.{number}")
    client.get("/api/v1/library")
    # The credential, the listing, the licence, others of the same listing, the versions.
    with django_assert_max_num_queries(5):
        assert len(labels(client, listing)) == 6


@pytest.fixture
def twice(listing: Listing, buyer: User) -> tuple[Order, Order]:
    """An asset that was bought with one licence, and after an update with a wider one."""
    first = bought(listing, buyer, license_slug="personal")
    release(listing, "2.0")
    return first, bought(listing, buyer, license_slug="commercial")


def test_version_that_only_the_narrower_licence_covers_is_downloadable(
    anonymous: APIClient, client: APIClient, listing: Listing, buyer: User, twice: tuple[Order, Order]
) -> None:
    assert labels(client, listing) == ["2.0", "1.0"]
    for version in ("1.0", str(twice[0].deliverable_id)):
        link = ask(client, listing, version).json()
        assert link["fileName"].endswith("-1.0-package.zip")
    assert {link.licence.order_id for link in DownloadLink.objects.all()} == {twice[0].pk}
    package = zipfile.ZipFile(io.BytesIO(b"".join(anonymous.get(link["downloadUrl"]))))
    assert archive("1.0") in map(package.read, package.namelist())
    assert ask(client, listing, "2.0").json()["fileName"].endswith("-2.0-package.zip")


def test_each_of_two_licences_is_listed_and_certified_with_its_own_version(
    client: APIClient, browse: Callable[..., Any], listing: Listing, buyer: User, twice: tuple[Order, Order]
) -> None:
    expected = {"personal": ("1.0", twice[0]), "commercial": ("2.0", twice[1])}
    library = client.get("/api/v1/library").json()
    assert library["ownedCount"] == 2
    assert {item["licenseSlug"]: (item["boughtVersion"], item["version"], item["orderId"]) for item in library["items"]} == {
        slug: (version, "2.0", str(order.pk)) for slug, (version, order) in expected.items()
    }
    for slug, (version, order) in expected.items():
        certificate = client.get(f"/api/v1/library/{listing.id}/certificate?licenseSlug={slug}").json()["certificate"]
        file = {"name": order.deliverable.original_filename, "size": order.deliverable.file_size, "checksum": order.deliverable.sha256}
        assert (certificate["license"]["slug"], certificate["version"], certificate["orderId"]) == (slug, version, str(order.pk))
        assert certificate["file"] == file
    page = browse(buyer).get(f"/dashboard/library/{listing.slug}").content.decode()
    assert [page.count(f"?license={slug}") for slug in expected] == [1, 3]


@pytest.mark.parametrize("end", ["refund", "dispute"])
def test_version_that_only_a_refunded_or_suspended_licence_covers_is_not_downloadable(
    client: APIClient, listing: Listing, buyer: User, twice: tuple[Order, Order], end: str
) -> None:
    if end == "refund":
        refund_order(order=twice[0], reason="test", actor=None)
    else:
        suspend_licences(order_ids=[twice[0].pk], reason="dispute")
    assert labels(client, listing) == ["2.0"]
    refused(ask(client, listing, "1.0"), 403, "not_owned")
    assert ask(client, listing).status_code == 200

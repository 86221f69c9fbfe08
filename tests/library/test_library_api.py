"""GET library and POST library/download: what the caller owns, and a link to it."""

import base64
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Deliverable, Listing
from library.models import DownloadLink, Licence, Package
from marketplace.accounts.models import User
from tests.contract.calls import refused
from tests.factories import UserFactory
from tests.shop import archive, bought, funded, on_sale
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.django_db, pytest.mark.database]
URL = "/api/v1/library"
Client = Callable[..., APIClient]


@pytest.fixture
def buyer() -> User:
    return funded(inr=10_000_000)


def download(client: APIClient, listing: Listing | str, **kwargs: Any) -> Any:
    asset_id = listing if isinstance(listing, str) else str(listing.id)
    return client.post(f"{URL}/download/{asset_id}", **kwargs)


def test_made_up_cursor_is_refused(bearer_client: Client) -> None:
    for moment in ("0001-01-01T00:00:00+14:00", "2026-01-01T00:00:00", "2026-01-01T00:00:00+01:00"):
        cursor = base64.urlsafe_b64encode(f"{moment} {UserFactory().pk}".encode()).decode().rstrip("=")
        refused(bearer_client().get(URL, {"cursor": cursor}), 400, "invalid_input")


def test_library_shows_what_is_owned_newest_first(bearer_client: Client, buyer: User, django_assert_max_num_queries: Any) -> None:
    old, new = on_sale(version="1.2"), on_sale()
    orders = [bought(old, buyer), bought(new, buyer, license_slug="commercial")]
    bought(on_sale())
    client = bearer_client(buyer)
    client.get(URL)
    # The credential, the page, the count.
    with django_assert_max_num_queries(3):
        body = client.get(URL).json()
    assert body["ownedCount"] == 2
    assert body["nextCursor"] is None
    assert [(item["assetId"], item["orderId"]) for item in body["items"]] == [
        (str(new.id), str(orders[1].id)),
        (str(old.id), str(orders[0].id)),
    ]
    item = body["items"][1]
    assert (item["title"], item["slug"], item["version"], item["licenseSlug"]) == (old.title, old.slug, "1.2", "personal")
    file = old.approved_deliverable
    assert file is not None
    assert item["file"] == {"id": str(file.id), "name": file.original_filename, "size": file.file_size, "checksum": file.sha256}
    assert (item["suspended"], item["onSale"]) == (False, True)
    assert datetime.fromisoformat(item["acquiredAt"]) == Licence.objects.get(listing=old).acquired_at


def test_pages_neither_repeat_nor_skip(bearer_client: Client, buyer: User) -> None:
    at = timezone.now()
    listings = [on_sale() for _ in range(5)]
    for listing in listings:
        bought(listing, buyer)
    # All at the same moment: the id decides.
    Licence.objects.update(acquired_at=at)
    client, seen, cursor = bearer_client(buyer), [], None
    for _ in range(3):
        body = client.get(URL, {"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        assert body["ownedCount"] == 5
        seen += [item["assetId"] for item in body["items"]]
        cursor = body["nextCursor"]
    assert cursor is None
    assert sorted(seen) == sorted(str(listing.id) for listing in listings)


def test_refunded_asset_is_neither_in_the_library_nor_downloaded(bearer_client: Client, buyer: User) -> None:
    listing = on_sale(archive())
    refund_order(order=bought(listing, buyer), reason="test", actor=None)
    assert bearer_client(buyer).get(URL).json()["ownedCount"] == 0
    refused(download(bearer_client(buyer), listing), 403, "not_owned")


def test_damaged_file_is_never_handed_out(bearer_client: Client, buyer: User) -> None:
    listing = on_sale(archive())
    bought(listing, buyer)
    Deliverable.objects.filter(listing=listing).update(crc32=1)
    client = bearer_client(buyer)
    client.raise_request_exception = False
    refused(download(client, listing), 500, "internal_error")
    assert not Package.objects.exists()


def test_link_is_absolute_lasts_15_minutes_and_is_recorded(key_client: Client, buyer: User) -> None:
    listing = on_sale(archive(), version="2.0 beta")
    bought(listing, buyer)
    before = timezone.now()
    body = download(key_client(buyer), listing.slug).json()
    assert body["downloadUrl"].startswith("http://testserver/api/v1/downloads/")
    assert body["fileName"] == f"{listing.slug}-2.0-beta-package.zip"
    link = DownloadLink.objects.get()
    assert datetime.fromisoformat(body["expiresAt"]) == link.expires_at == link.issued_at + timedelta(minutes=15)
    assert before <= link.issued_at <= timezone.now()
    assert link.app is not None
    assert (link.user, link.app.user, link.credential_kind, link.listing, link.version) == (buyer, buyer, "api_key", listing, "2.0 beta")
    assert link.deliverable == listing.approved_deliverable
    assert link.credential_id == link.app.api_keys.get().id


def test_link_and_each_download_through_it_keep_the_ids_of_their_requests(bearer_client: Client, anonymous: APIClient, buyer: User) -> None:
    listing = on_sale(archive())
    bought(listing, buyer)
    answer = download(bearer_client(buyer), listing, headers={"x-request-id": "for-the-link"}).json()
    anonymous.get(answer["downloadUrl"], headers={"x-request-id": "for-the-file"})
    link = DownloadLink.objects.get()
    assert (link.request_id, link.downloads.get().request_id) == ("for-the-link", "for-the-file")


def test_owner_downloads_after_the_listing_left_the_catalog(bearer_client: Client, buyer: User) -> None:
    listing = on_sale(archive())
    bought(listing, buyer)
    Listing.objects.filter(pk=listing.pk).update(status="Rejected")
    listing.store.is_open = False
    listing.store.save()
    assert download(bearer_client(buyer), listing).status_code == 200

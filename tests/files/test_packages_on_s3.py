"""On S3 the package is built once and the store serves it, for seconds; the link itself stays ours to kill."""

import hashlib
import os
import urllib.error
import urllib.request
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.events import ListingPublished
from catalog.models import Listing
from library.models import Download, DownloadLink, Package
from library.services import building
from library.services.links import issue_link, url_of
from marketplace.core.events import emit
from marketplace.storage.s3 import PART_BYTES, S3Storage
from tests.shop import bought, on_sale
from tests.waiting import PATIENCE_SECONDS
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.django_db, pytest.mark.s3]
# More than one part, so that the package is put together of copies.
CONTENT = os.urandom(PART_BYTES + 2_000_000)
SMALL = b"small"


def read(url: str, **headers: str) -> bytes:
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - our own loopback server
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - the same
        data: bytes = answer.read()
        return data


def test_s3_serves_the_package_and_ranges_of_it_under_its_file_name(s3_store: S3Storage, anonymous: APIClient) -> None:
    order = bought(on_sale(CONTENT, version="1"))
    link = issue_link(licence=order.buyer.licences.get())
    response = anonymous.get(url_of(link))
    assert response.status_code == 302
    data = read(response["Location"])
    assert (len(data), hashlib.sha256(data).hexdigest()) == (link.package.size, link.package.sha256)
    assert data.find(CONTENT) > 0
    assert read(response["Location"], Range="bytes=100-199") == data[100:200]
    with urllib.request.urlopen(response["Location"], timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - the same
        assert link.file_name in answer.headers["Content-Disposition"]
    refund_order(order=order, reason="test", actor=None)
    assert anonymous.get(url_of(link)).json()["code"] == "link_revoked"


def test_head_is_answered_by_us_and_ranges_go_on_only_in_the_same_bytes(s3_store: S3Storage, anonymous: APIClient) -> None:
    link = issue_link(licence=bought(on_sale(SMALL)).buyer.licences.get())
    head = anonymous.head(url_of(link))
    assert (head.status_code, int(head["Content-Length"]), head["Accept-Ranges"]) == (200, link.package.size, "bytes")
    assert not Download.objects.exists()
    location = anonymous.get(url_of(link))["Location"]
    assert Download.objects.count() == 1
    with urllib.request.urlopen(location, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - the same
        etag, whole = answer.headers["ETag"], answer.read()
    assert read(location, Range="bytes=5-9", **{"If-Match": etag}) == whole[5:10]
    for other in ('"other"', head["ETag"]):
        with pytest.raises(urllib.error.HTTPError, match="412"):
            read(location, Range="bytes=5-9", **{"If-Match": other})
    with pytest.raises(urllib.error.HTTPError, match="416"):
        read(location, Range=f"bytes={len(whole)}-")
    assert read(location, Range="bytes=5-9", **{"If-Range": etag}) == whole[5:10]
    # Stores differ about If-Range with other validators: those are ours to judge.
    assert anonymous.get(url_of(link), headers={"range": "bytes=5-9", "if-range": etag}).status_code == 302
    for validator, status, expected in (('"other"', 200, whole), (head["ETag"], 206, whole[5:10])):
        ours: Any = anonymous.get(url_of(link), headers={"range": "bytes=5-9", "if-range": validator})
        assert (ours.status_code, b"".join(ours.streaming_content)) == (status, expected)


def test_package_is_built_once(s3_store: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    licence = bought(on_sale(SMALL)).buyer.licences.get()
    first = issue_link(licence=licence)

    def fail(*_args: Any) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(S3Storage, "compose", fail)
    assert issue_link(licence=licence).package == first.package


def test_package_measured_locally_is_built_when_the_store_moves_to_s3(s3_store: S3Storage, anonymous: APIClient) -> None:
    licence = bought(on_sale(SMALL)).buyer.licences.get()
    link = issue_link(licence=licence)
    s3_store.delete(link.package.object_key)
    Package.objects.update(object_key="")
    again = issue_link(licence=licence)
    assert again.package.object_key
    assert hashlib.sha256(read(anonymous.get(url_of(again))["Location"])).hexdigest() == link.package.sha256


def test_publication_makes_a_package_ready_for_each_licence(s3_store: S3Storage, django_capture_on_commit_callbacks: Any) -> None:
    listing = on_sale(SMALL, allowed_license_slugs=["personal", "extended"])
    with django_capture_on_commit_callbacks(execute=True):
        emit(ListingPublished(listing.id))
    built = {package.object_key: package for package in Package.objects.all()}
    assert len(built) == 2
    for key, package in built.items():
        data = b"".join(s3_store.read(key))
        assert (len(data), hashlib.sha256(data).hexdigest()) == (package.size, package.sha256)
    link = issue_link(licence=bought(listing).buyer.licences.get())
    assert link.package.object_key in built


def test_unused_package_is_removed_and_its_link_goes_on(s3_store: S3Storage, anonymous: APIClient) -> None:
    link = issue_link(licence=bought(on_sale(SMALL)).buyer.licences.get())
    Listing.objects.update(status="Draft")
    s3_store.save_bytes("packages/stray", b"left by a killed builder")
    Package.objects.update(created_at=timezone.now() - timedelta(days=40))
    call_command("build_packages", "--prune", "30")
    assert s3_store.size(link.package.object_key) == link.package.size
    DownloadLink.objects.update(issued_at=timezone.now() - timedelta(days=31))
    with patch.object(building, "GRACE", -timedelta(days=1)):
        call_command("build_packages", "--prune", "30", "--dry-run")
        assert link.package.object_key in dict(s3_store.keys_with_times("packages/"))
        call_command("build_packages", "--prune", "30")
    assert not {link.package.object_key, "packages/stray"} & set(dict(s3_store.keys_with_times("packages/")))
    answer: Any = anonymous.get(url_of(link))
    assert hashlib.sha256(b"".join(answer.streaming_content)).hexdigest() == link.package.sha256


def test_package_built_anew_while_it_was_removed_stays(s3_store: S3Storage, anonymous: APIClient) -> None:
    licence = bought(on_sale(SMALL)).buyer.licences.get()
    old = issue_link(licence=licence).package
    # The remover has cleared the row, and deletes the object only after another has built it again.
    delete, again = s3_store.delete, []

    def slowly(key: str) -> None:
        again.append(issue_link(licence=licence))
        delete(key)

    with patch.object(S3Storage, "delete", lambda _store, key: slowly(key)):
        building.delete_built_package(package=old)
    (link,) = again
    assert hashlib.sha256(read(anonymous.get(url_of(link))["Location"])).hexdigest() == link.package.sha256
    # One that was removed by an old row takes nothing from the new one.
    building.delete_built_package(package=old)
    link.package.refresh_from_db()
    assert hashlib.sha256(read(anonymous.get(url_of(link))["Location"])).hexdigest() == link.package.sha256


def test_damaged_file_leaves_no_package(s3_store: S3Storage) -> None:
    listing = on_sale(CONTENT)
    assert listing.approved_deliverable is not None
    listing.approved_deliverable.crc32 ^= 1
    listing.approved_deliverable.save()
    licence = bought(listing).buyer.licences.get()
    with pytest.raises(building.DamagedFile):
        issue_link(licence=licence)
    assert not Package.objects.exists()
    assert not list(s3_store.unfinished())

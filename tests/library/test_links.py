"""The signed route: good for what it was issued for, until exactly its end."""

import hashlib
import io
import zipfile
from collections.abc import Callable
from datetime import UTC, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Deliverable, Listing
from library.models import Download, DownloadLink
from library.services import links
from library.services.links import issue_link, url_of
from marketplace.accounts.models import User
from marketplace.storage import default_storage, local
from tests.contract.calls import operations_in_document, refused
from tests.shop import archive, bought, funded, on_sale
from wallet.models import Order
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
CONTENT = archive()


@pytest.fixture
def order() -> Order:
    return bought(on_sale(CONTENT, version="1.0", readme="Unpack, then install."), funded(inr=100_000))


@pytest.fixture
def link(order: Order) -> DownloadLink:
    return issue_link(licence=order.buyer.licences.get())


def fetch(client: APIClient, link: DownloadLink, method: str = "get", **headers: str) -> Any:
    return getattr(client, method)(url_of(link), headers=headers)


def body_of(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def assert_refused(response: Any, status: int, code: str) -> None:
    refused(response, status, code)
    assert not Download.objects.exists()


def test_signed_token_of_another_purpose_is_not_valid(anonymous: APIClient, link: DownloadLink) -> None:
    for value in ("AAAA", "not base64 at all", str(link.id)):
        assert_refused(anonymous.get(f"/api/v1/downloads/{links._signer.sign(value)}"), 404, "link_invalid")


def test_link_is_good_until_its_end_and_not_a_moment_longer(anonymous: APIClient, link: DownloadLink) -> None:
    with patch.object(timezone, "now", return_value=link.expires_at - timedelta(microseconds=1)):
        assert fetch(anonymous, link, "head").status_code == 200
    with patch.object(timezone, "now", return_value=link.expires_at):
        assert_refused(fetch(anonymous, link), 410, "link_expired")


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda: refund_order(order=Order.objects.get(), reason="test", actor=None), "link_revoked"),
        (lambda: User.objects.update(is_active=False), "link_revoked"),
        (lambda: Deliverable.objects.update(blocked_at=timezone.now()), "file_blocked"),
    ],
    ids=["refund", "deactivation", "block"],
)
def test_refund_deactivation_or_block_revokes_the_download_link(
    anonymous: APIClient, link: DownloadLink, end: Callable[[], object], code: str
) -> None:
    end()
    assert_refused(fetch(anonymous, link), 410, code)
    assert fetch(anonymous, link, "head").status_code == 410


def test_range_outside_of_the_package_is_refused_and_an_unchanged_package_is_not_sent(anonymous: APIClient, link: DownloadLink) -> None:
    refused(fetch(anonymous, link, Range=f"bytes={link.package.size}-"), 416, "range_not_satisfiable")
    assert fetch(anonymous, link, **{"If-None-Match": f'"{link.package.sha256}"'}).status_code == 304
    assert "304" in operations_in_document()["GET /downloads/{}"]["responses"]
    assert not Download.objects.exists()


def test_link_in_its_last_second_does_not_lead_to_the_store(anonymous: APIClient, order: Order) -> None:
    with patch.object(local.LocalStorage, "presigned_url", return_value="https://store.example.com/package"):
        link = issue_link(licence=order.buyer.licences.get())
        DownloadLink.objects.update(expires_at=timezone.now() + timedelta(seconds=0.9))
        assert_refused(fetch(anonymous, link), 410, "link_expired")


def test_link_needs_no_credential_and_gives_what_it_promised(anonymous: APIClient, link: DownloadLink) -> None:
    response = fetch(anonymous, link)
    data = body_of(response)
    assert response.status_code == 200
    assert len(data) == link.package.size == int(response["Content-Length"])
    assert hashlib.sha256(data).hexdigest() == link.package.sha256
    assert response["ETag"] == f'"{link.package.sha256}"'
    assert (response["Content-Type"], response["Accept-Ranges"]) == ("application/zip", "bytes")
    assert response["Content-Disposition"] == f'attachment; filename="{link.file_name}"'
    assert response["Cache-Control"] == "private, no-store"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert Download.objects.get().link == link


def test_package_holds_the_untouched_file_readme_and_terms(anonymous: APIClient, link: DownloadLink) -> None:
    with zipfile.ZipFile(io.BytesIO(body_of(fetch(anonymous, link)))) as package:
        assert package.testzip() is None
        assert package.namelist() == ["archive.zip", "README.txt", "LICENSE.txt"]
        assert package.read("archive.zip") == CONTENT
        assert package.getinfo("archive.zip").compress_type == zipfile.ZIP_STORED
        approved_at = link.deliverable.approved_at
        assert approved_at is not None
        dates = {info.date_time for info in package.infolist()}
        assert dates == {(*approved_at.astimezone(UTC).timetuple()[:5], approved_at.second // 2 * 2)}
        assert package.read("README.txt") == b"Unpack, then install."
        terms = package.read("LICENSE.txt").decode()
    assert link.licence.terms.text in terms
    assert link.listing.title in terms


@pytest.mark.parametrize(
    ("uploaded", "inside"),
    [
        ("license.TXT", "asset-license.TXT"),
        ("../../etc/passwd", "passwd"),
        ("C:\\fonts\\a.otf", "a.otf"),
        ("a\nb\x00.otf", "ab.otf"),
        ("..", "asset-file"),
        # File systems count bytes, and refuse more than 255 of them.
        ("字" * 196 + ".otf", "字" * 78 + ".otf"),
        ('a: "b"|<c>?*.otf', "a_ _b___c___.otf"),
        # Windows would open a device, and `cam.py` writes no such file.
        ("Aux.zip", "asset-Aux.zip"),
        ("com1.tar.gz", "asset-com1.tar.gz"),
        ("console.zip", "console.zip"),
    ],
)
def test_file_name_in_the_package_is_harmless(anonymous: APIClient, uploaded: str, inside: str) -> None:
    listing = on_sale(CONTENT)
    Deliverable.objects.filter(listing=listing).update(original_filename=uploaded.replace("\x00", "\x01"))
    link = issue_link(licence=bought(listing).buyer.licences.get())
    with zipfile.ZipFile(io.BytesIO(body_of(fetch(anonymous, link)))) as package:
        assert package.namelist() == [inside, "README.txt", "LICENSE.txt"]


def test_issued_link_serves_the_same_bytes_after_the_readme_is_edited(anonymous: APIClient, link: DownloadLink) -> None:
    Listing.objects.update(readme="Edited.")
    assert hashlib.sha256(body_of(fetch(anonymous, link))).hexdigest() == link.package.sha256
    link.licence.listing.refresh_from_db()
    newer = issue_link(licence=link.licence)
    assert newer.package.sha256 != link.package.sha256


def test_head_of_a_download_has_its_headers_and_is_not_recorded(anonymous: APIClient, link: DownloadLink) -> None:
    response = fetch(anonymous, link, "head")
    assert (response.status_code, response.content) == (200, b"")
    assert int(response["Content-Length"]) == link.package.size
    assert not Download.objects.exists()


def test_range_is_that_part_of_the_package(anonymous: APIClient, link: DownloadLink) -> None:
    whole = body_of(fetch(anonymous, link))
    size = len(whole)
    for asked, start, end in (
        ("0-0", 0, 1),
        ("10-", 10, size),
        ("-7", size - 7, size),
        ("30-80", 30, 81),
        ("5-999999999", 5, size),
        (f"{size - 700}-{size - 3}", size - 700, size - 2),
    ):
        response = fetch(anonymous, link, Range=f"bytes={asked}")
        assert response.status_code == 206
        assert response["Content-Range"] == f"bytes {start}-{end - 1}/{size}"
        assert body_of(response) == whole[start:end]
        assert Download.objects.order_by("-id")[0].byte_range == f"bytes={asked}"


def test_if_range_of_other_bytes_gets_the_whole(anonymous: APIClient, link: DownloadLink) -> None:
    part = fetch(anonymous, link, Range="bytes=5-9", **{"If-Range": f'"{link.package.sha256}"'})
    whole = fetch(anonymous, link, Range="bytes=5-9", **{"If-Range": '"other"'})
    assert (part.status_code, whole.status_code) == (206, 200)
    assert body_of(whole)[5:10] == body_of(part)


def test_download_link_works_beside_a_credential(bearer_client: Callable[..., APIClient], link: DownloadLink) -> None:
    assert fetch(bearer_client(), link).status_code == 200


@pytest.mark.parametrize(("left", "seconds"), [(600, 30), (1.9, 1)])
def test_presigned_redirect_never_outlives_the_link(anonymous: APIClient, order: Order, left: float, seconds: int) -> None:
    def presigned(self: local.LocalStorage, key: str, *, seconds: int, filename: str, content_type: str) -> str:
        return f"https://store.example/{key}?seconds={seconds}&name={filename}&type={content_type}"

    with patch.object(local.LocalStorage, "presigned_url", presigned):
        link = issue_link(licence=order.buyer.licences.get())
        DownloadLink.objects.update(expires_at=timezone.now() + timedelta(seconds=left))
        response = fetch(anonymous, link)
    key = link.package.object_key
    assert response.status_code == 302
    assert response["Location"] == f"https://store.example/{key}?seconds={seconds}&name={link.file_name}&type=application/zip"
    # What the store would serve was built, byte for byte as promised.
    built = b"".join(default_storage.read(key))
    assert (len(built), hashlib.sha256(built).hexdigest()) == (link.package.size, link.package.sha256)

"""The logo and the banner of a store: uploaded, shown, replaced, removed, taken down."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core import mail
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient

from catalog.models import Store, StorePicture
from marketplace.core.errors import InvalidInput
from marketplace.operations.backups import PART, copy_objects_out
from marketplace.storage import default_storage
from tests.catalog.cases import published
from tests.factories import UserFactory
from tests.files import makers
from tests.files.helpers import knock, stored
from vendors.models import VendorProfile, VendorStatus
from vendors.services.store_pictures import take_pictures_down
from vendors.services.sweeping import find_missing, find_orphans

from .cases import problem

pytestmark = pytest.mark.django_db
STORE = "/api/v1/vendor/store"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["logo", "banner"])
def test_uploaded_picture_is_shown_on_the_stores_page_and_in_the_profile(
    kind: str, client: APIClient, anonymous: APIClient, vendor: VendorProfile
) -> None:
    answer = client.post(f"{STORE}/{kind}", makers.form(makers.picture(size=(900, 300)), "mine.png"))
    assert answer.status_code == 200, answer.content
    record = answer.json()
    assert (record["kind"].lower(), record["width"], record["height"]) == (kind, 900, 300)
    assert client.get("/api/v1/vendor/application-status").json()[f"{kind}Url"] == record["url"]
    assert record["url"] in Client().get(f"/stores/{vendor.store.slug}").content.decode()
    shown = anonymous.get(record["url"])
    assert (shown.status_code, shown["Content-Type"]) == (200, "image/webp")
    assert b"".join(shown.streaming_content)[8:12] == b"WEBP"  # type: ignore[attr-defined]  # a file


@pytest.mark.slow
def test_replaced_and_removed_pictures_leave_no_object(
    client: APIClient, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = client.post(f"{STORE}/logo", makers.form(makers.picture())).json()
        second = client.post(f"{STORE}/logo", makers.form(makers.picture(size=(64, 64)))).json()
    picture = StorePicture.objects.get()
    assert first["id"] != second["id"] == str(picture.pk)
    assert stored(media) == sorted([picture.object_key, picture.renditions["card"]["key"]])
    with django_capture_on_commit_callbacks(execute=True):
        assert client.delete(f"{STORE}/logo").json() == second
    assert (StorePicture.objects.count(), stored(media)) == (0, [])
    assert problem(client.delete(f"{STORE}/logo")) == (404, "not_found")


@pytest.mark.slow
def test_logo_is_in_the_catalog_as_long_as_the_store_has_it(client: APIClient, anonymous: APIClient, vendor: VendorProfile) -> None:
    first = published(store=vendor.store)

    def shown() -> set[str | None]:
        answers = [anonymous.get(f"/api/v1/assets/{first.pk}").json(), *anonymous.get("/api/v1/assets").json()["items"]]
        return {answer["vendor"]["logoUrl"] for answer in answers}

    assert shown() == {None}
    logo = client.post(f"{STORE}/logo", makers.form(makers.picture(size=(900, 300)))).json()
    assert shown() == {f"{logo['url']}?size=card"}
    published(store=vendor.store)
    [url] = shown()
    assert url is not None
    assert anonymous.get(url).status_code == 200
    client.delete(f"{STORE}/logo")
    assert shown() == {None}


def test_refusals_come_before_the_picture_is_read(client: APIClient) -> None:
    assert problem(knock(client, f"{STORE}/logo", CONTENT_LENGTH=str(21 * 2**20))) == (413, "body_too_large")
    VendorProfile.objects.update(status=VendorStatus.SUSPENDED)
    assert problem(knock(client, f"{STORE}/logo")) == (403, "vendor_not_approved")


@pytest.mark.slow
def test_store_picture_that_is_no_image_is_refused_and_leaves_no_file(client: APIClient, media: Path) -> None:
    assert problem(client.post(f"{STORE}/logo", makers.form(b"GIF89a" + b"\0" * 100, "logo.png"))) == (415, "unsupported_type")
    assert (StorePicture.objects.count(), stored(media)) == (0, [])


def test_picture_of_a_closed_store_is_shown_to_its_owner_only(
    client: APIClient, other_client: APIClient, anonymous: APIClient, vendor: VendorProfile
) -> None:
    url = client.post(f"{STORE}/banner", makers.form(makers.picture())).json()["url"]
    Store.objects.filter(pk=vendor.store_id).update(is_open=False)
    assert [caller.get(url).status_code for caller in (client, other_client, anonymous)] == [200, 404, 404]


@pytest.mark.slow
def test_pictures_that_staff_take_down_are_gone_and_the_vendor_is_told(
    client: APIClient, vendor: VendorProfile, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    client.post(f"{STORE}/logo", makers.form(makers.picture()))
    with pytest.raises(InvalidInput):
        take_pictures_down(profile=vendor, reason=" ", actor=UserFactory())
    with django_capture_on_commit_callbacks(execute=True):
        take_pictures_down(profile=vendor, reason="Not yours.", actor=UserFactory())
    assert not StorePicture.objects.exists()
    assert [(message.to, "Not yours." in message.body) for message in mail.outbox] == [([vendor.user.email], True)]


@pytest.mark.slow
def test_pictures_are_known_to_the_sweep_and_to_backups(client: APIClient, media: Path, tmp_path: Path) -> None:
    client.post(f"{STORE}/logo", makers.form(makers.picture()))
    assert list(find_orphans(int, age=timedelta())) == []
    assert list(find_missing(int)) == []
    folder = tmp_path / "backup"
    copy_objects_out(default_storage, folder, tmp_path / PART, lambda: None)
    assert stored(folder) == stored(media)
    StorePicture.objects.all().delete()
    assert sorted(find_orphans(int, age=timedelta())) == stored(media)

"""The page of a listing's files, and its plain forms: what is refused, what is kept, what the page tells."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, Listing, Preview
from marketplace.core import bounds
from marketplace.core.audit import history_of
from marketplace.storage import default_storage
from tests.factories import ListingFactory, UserFactory
from tests.files import makers
from tests.files.helpers import knock, stored
from tests.vendors.cases import make_vendor, publish
from vendors.errors import VendorNotApproved
from vendors.inspection import Inspection, inspect_deliverable
from vendors.models import Upload, VendorProfile
from vendors.services import files as services
from vendors.services.profiles import suspend_vendor
from vendors.services.uploads import begin_upload
from vendors.studio.upload_fields import MESSAGES

from .cases import picture
from .forms import at

pytestmark = pytest.mark.django_db

UPLOADS = [("file-upload", []), ("picture-upload", [0]), ("specimen-upload", []), ("sound-upload", [])]


def send(client: Client, listing: Listing, content: bytes, name: str = "file-upload", *more: Any, filename: str = "file.bin") -> Any:
    file = io.BytesIO(content)
    file.name = filename
    return client.post(at(name, listing, *more), {"file": file})


def text_of(answer: Any) -> str:
    """Return the page's text with its white space made one."""
    return " ".join(answer.content.decode().split())


def test_unfinished_upload_is_shown_and_removed_by_its_vendor_only(
    client: Client, browse: Callable[..., Client], vendor: VendorProfile, listing: Listing
) -> None:
    upload = begin_upload(listing=listing, filename="Aurora.zip", size=9_000_000, actor=vendor.user)
    assert "0 bytes of 8.6 MB arrived." in text_of(client.get(at("files", listing))).replace("\xa0", " ")
    other = ListingFactory(store=make_vendor().store)
    assert browse(other.store.owner).post(at("upload-remove", other, upload.pk)).status_code == 404
    assert client.post(at("upload-remove", listing, upload.pk)).status_code == 302
    assert not Upload.objects.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "more"), UPLOADS[:2])
def test_upload_form_is_refused_before_the_body_is_read(
    browse: Callable[..., Client], client: Client, listing: Listing, name: str, more: list[int]
) -> None:
    path = at(name, listing, *more)
    assert knock(Client(), path)["Location"].startswith(reverse("account_login"))
    assert knock(browse(make_vendor().user), path).status_code == 404
    assert knock(client, path, CONTENT_LENGTH=str(6 * bounds.GIB)).status_code == 413
    elsewhere = browse(listing.store.owner, checked=True)
    assert knock(elsewhere, path, HTTP_ORIGIN="https://elsewhere.example").status_code == 403
    Listing.objects.update(status="PendingReview")
    assert knock(client, path).status_code == 409


@pytest.mark.slow
def test_upload_form_with_a_valid_csrf_token_is_accepted(browse: Callable[..., Client], listing: Listing) -> None:
    client = browse(listing.store.owner, checked=True)
    token = client.get(at("files", listing)).context["csrf_token"]
    file = io.BytesIO(makers.archive(a_otf="x"))
    file.name = "aurora.zip"
    assert client.post(at("file-upload", listing), {"csrfmiddlewaretoken": token, "file": file}).status_code == 302
    assert Deliverable.objects.get().original_filename == "aurora.zip"
    # The token may stand behind the file as well.
    file.seek(0)
    assert client.post(at("file-upload", listing), {"file": file, "csrfmiddlewaretoken": token}).status_code == 302


@pytest.mark.slow
def test_refused_file_is_told_beside_its_field_and_leaves_nothing(client: Client, listing: Listing, media: Path) -> None:
    answer = send(client, listing, makers.archive(a_otf="x")[:-10], filename="right.zip")
    assert answer.status_code == 400
    assert "Export it again" in text_of(answer).split('id="file-error"')[1].split("</ul>")[0]
    assert stored(media) == []
    assert not Deliverable.objects.exists()


@pytest.mark.slow
def test_file_that_exceeds_the_vendors_room_is_refused_with_what_helps(
    client: Client, vendor: VendorProfile, listing: Listing, settings: Any
) -> None:
    settings.VENDOR_UNAPPROVED_GIB = 1
    begin_upload(listing=ListingFactory(store=vendor.store), filename="Aurora.zip", size=bounds.GIB, actor=vendor.user)
    answer = send(client, listing, makers.archive(a_otf="x"))
    assert answer.status_code == 409
    assert "You can store at most 1 GB that no reviewer has approved, and this file would exceed it. Remove drafts" in text_of(answer)


@pytest.mark.slow
def test_unusual_contents_of_an_archive_are_explained(client: Client, listing: Listing) -> None:
    send(client, listing, makers.zipped({"../up/setup.exe": b"MZ"}))
    page = text_of(client.get(at("files", listing)))
    for words in ("Paths that lead outside the target folder", "Programs or scripts", "../up/setup.exe"):
        assert words in page


@pytest.mark.slow
def test_form_without_a_file_says_to_choose_one(client: Client, listing: Listing) -> None:
    for sent in ({"other": ""}, {"file": ""}):
        answer = client.post(at("file-upload", listing), sent)
        assert answer.status_code == 400
    assert MESSAGES["upload_incomplete"] in text_of(answer)


@pytest.mark.slow
def test_accepted_types_of_each_upload_form_are_those_of_the_error_message(client: Client, listing: Listing) -> None:
    page = BeautifulSoup(client.get(at("files", listing)).content, "html.parser")
    for name, more in UPLOADS:
        form = page.select_one(f"form[action='{at(name, listing, *more)}']")
        assert form is not None
        assert str(form["data-accepted"]) in text_of(send(client, listing, b"MZ" + b"\0" * 500, name, *more))


@pytest.mark.slow
def test_upload_that_is_no_picture_shows_the_error_at_its_slot(client: Client, listing: Listing) -> None:
    answer = send(client, listing, makers.font(), "picture-upload", 3)
    assert answer.status_code == 415
    page = text_of(answer)
    assert "JPG, PNG or WebP" in page.split('id="picture-3-error"')[1].split("</ul>")[0]
    assert "<li>" not in page.split('id="picture-2-error"')[1].split("</ul>")[0]
    # There are no more places.
    assert send(client, listing, makers.picture(), "picture-upload", catalog_bounds.GALLERY_SLOTS).status_code == 404


@pytest.mark.slow
def test_every_refusal_of_the_upload_endpoints_has_a_sentence(client: Client) -> None:
    document = client.get("/api/v1/schema?format=json").json()
    places = [path for path in document["paths"] if path.rsplit("/", 1)[-1] in {"file", "font-specimen", "gallery-image", "audio-preview"}]
    assert len(places) == 4
    for place in places:
        told = " ".join(answer["description"] for answer in document["paths"][place]["post"]["responses"].values())
        codes = {word.strip("`:") for word in told.split() if word.startswith("`")}
        assert codes <= MESSAGES.keys(), place


def test_file_is_stored_once_and_never_by_djangos_own_handlers(
    client: Client, listing: Listing, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("Django keeps the file as well")

    monkeypatch.setattr("django.core.files.uploadhandler.MemoryFileUploadHandler.new_file", refuse)
    monkeypatch.setattr("django.core.files.uploadhandler.TemporaryFileUploadHandler.new_file", refuse)
    content = makers.archive(a_otf="x" * 10_000)
    answer = send(client, listing, content, filename="Aurora.zip")
    assert answer["Location"] == f"{at('files', listing)}#file"
    file = Deliverable.objects.get()
    assert stored(media) == [file.object_key]
    assert b"".join(default_storage.read(file.object_key)) == content
    page = text_of(client.get(at("files", listing)))
    assert "Aurora.zip was uploaded" in page
    assert "<dt>Entries</dt> <dd>1 (1 otf)</dd>" in page
    assert file.sha256 in page


@pytest.mark.slow
def test_previews_are_stored_and_shown_as_everyone_sees_them(client: Client, listing: Listing) -> None:
    assert client.get(at("specimen", listing)).status_code == 404
    assert send(client, listing, makers.picture(), "picture-upload", 2)["Location"].endswith("#picture-2")
    assert send(client, listing, makers.font(flavor="woff2"), "specimen-upload")["Location"].endswith("#specimen")
    assert send(client, listing, makers.sound("WAV", 0.1), "sound-upload")["Location"].endswith("#sound")
    assert set(Preview.objects.values_list("kind", "slot", "content_type")) == {
        ("Gallery", 2, "image/webp"),
        ("FontSpecimen", 0, "font/woff2"),
        ("AudioPreview", 0, "audio/wav"),
    }
    face = client.get(at("specimen", listing))
    assert Preview.objects.get(kind="FontSpecimen").url in face.content.decode()
    assert face["Content-Type"] == "text/css; charset=utf-8"
    assert "no-store" in face["Cache-Control"]


@pytest.mark.slow
def test_preview_is_removed_unless_it_is_of_another_listing(client: Client, listing: Listing) -> None:
    send(client, listing, makers.picture(), "picture-upload", 1)
    preview = Preview.objects.get()
    other = ListingFactory(store=listing.store)
    client.post(at("preview-remove", other, preview.pk))
    assert Preview.objects.get() == preview
    assert client.post(at("preview-remove", listing, preview.pk))["Location"] == f"{at('files', listing)}#picture-1"
    assert not Preview.objects.exists()
    # Once more, from another window: it is as it was asked to be.
    assert client.post(at("preview-remove", listing, preview.pk)).status_code == 302


@pytest.mark.slow
def test_discarded_candidate_goes_with_its_object_unless_it_is_under_review_and_the_reviewed_file_stays(
    client: Client, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    publish(listing)
    send(client, listing, makers.archive(a_otf="x"))
    assert Deliverable.objects.count() == 2
    Listing.objects.update(update_status="PendingReview")
    refused = client.post(at("file-discard", listing))
    assert refused.status_code == 409
    # No other file can be sent, while pictures can.
    assert ['id="file-input"' in text_of(refused), 'id="picture-1-input"' in text_of(refused)] == [False, True]
    Listing.objects.update(update_status="")
    # The second time, there is nothing left to discard.
    with django_capture_on_commit_callbacks(execute=True):
        assert [client.post(at("file-discard", listing)).status_code for _ in range(2)] == [302, 302]
    assert Deliverable.objects.get() == listing.approved_deliverable
    assert stored(media) == []
    assert history_of(listing)[0].action == "listing.discard_file"


@pytest.mark.slow
def test_vendor_suspended_meanwhile_cannot_remove_files(vendor: VendorProfile, listing: Listing) -> None:
    preview = picture(listing, 1)
    listing.store.is_open = False
    listing.store.save()
    with pytest.raises(VendorNotApproved):
        services.remove_preview(listing=listing, preview_id=preview.pk, actor=vendor.user)


@pytest.mark.slow
def test_vendor_suspended_during_an_upload_is_redirected_to_the_studio(
    client: Client, vendor: VendorProfile, listing: Listing, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def inspect(**arguments: Any) -> Inspection:
        suspend_vendor(profile=vendor, actor=UserFactory(is_staff=True), reason="Stolen work")
        return inspect_deliverable(**arguments)

    monkeypatch.setattr("vendors.form_uploads.inspect_deliverable", inspect)
    assert send(client, listing, makers.archive(a_otf="x"))["Location"] == reverse("studio")
    assert stored(media) == []
    assert not Deliverable.objects.exists()


def test_files_page_allows_blob_images_in_its_content_security_policy(client: Client, listing: Listing) -> None:
    policy = client.get(at("files", listing))["Content-Security-Policy"]
    assert "img-src 'self' data: blob:;" in policy
    assert "blob:" not in policy.replace("img-src 'self' data: blob:;", "")
    assert "unsafe" not in policy
    assert "blob:" not in client.get(reverse("studio-listing", args=[listing.slug]))["Content-Security-Policy"]

"""The page of a listing's files, and its plain forms: what is refused, what is kept, what the page tells."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from catalog import bounds as catalog_bounds
from catalog.models import Deliverable, Listing, Preview
from marketplace.core import bounds
from marketplace.core.audit import history_of
from marketplace.core.bounds import GIB
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

from .cases import picture, with_candidate

pytestmark = pytest.mark.django_db

UPLOADS = [("studio-file-upload", []), ("studio-picture-upload", [0]), ("studio-specimen-upload", []), ("studio-sound-upload", [])]


def address(listing: Listing, name: str = "studio-files", *more: Any) -> str:
    """Return the address of one of the listing's pages."""
    return reverse(name, args=[listing.slug, *more])


def send(client: Client, listing: Listing, content: bytes, name: str = "studio-file-upload", *more: Any, filename: str = "file.bin") -> Any:
    """Send a file by a page's form."""
    file = io.BytesIO(content)
    file.name = filename
    return client.post(address(listing, name, *more), {"file": file})


def text_of(answer: Any) -> str:
    """Return the page's text with its white space made one."""
    return " ".join(answer.content.decode().split())


def test_unfinished_upload_is_shown_and_removed_by_its_vendor_only(
    client: Client, browse: Callable[..., Client], vendor: VendorProfile, listing: Listing
) -> None:
    upload = begin_upload(listing=listing, filename="Aurora.zip", size=9_000_000, actor=vendor.user)
    assert "0 bytes of 8.6 MB arrived." in text_of(client.get(address(listing))).replace("\xa0", " ")
    other = ListingFactory(store=make_vendor().store)
    assert browse(other.store.owner).post(address(other, "studio-upload-remove", upload.pk)).status_code == 404
    assert client.post(address(listing, "studio-upload-remove", upload.pk)).status_code == 302
    assert not Upload.objects.exists()


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "more"), UPLOADS[:2])
def test_upload_form_is_refused_before_the_body_is_read(
    browse: Callable[..., Client], client: Client, listing: Listing, name: str, more: list[int]
) -> None:
    path = address(listing, name, *more)
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
    token = client.get(address(listing)).context["csrf_token"]
    file = io.BytesIO(makers.archive(a_otf="x"))
    file.name = "aurora.zip"
    assert client.post(address(listing, "studio-file-upload"), {"csrfmiddlewaretoken": token, "file": file}).status_code == 302
    assert Deliverable.objects.get().original_filename == "aurora.zip"
    # The token may stand behind the file as well.
    file.seek(0)
    assert client.post(address(listing, "studio-file-upload"), {"file": file, "csrfmiddlewaretoken": token}).status_code == 302


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"MZ" + b"\0" * 500, 415, "What counts is the content, not the name."),
        (makers.archive(a_otf="x")[:-10], 400, "Export it again"),
    ],
)
def test_refused_file_is_told_beside_its_field_and_leaves_nothing(
    client: Client, listing: Listing, media: Path, content: bytes, status: int, words: str
) -> None:
    answer = send(client, listing, content, filename="right.zip")
    assert answer.status_code == status
    error = text_of(answer).split('id="file-error"')[1].split("</ul>")[0]
    assert words in error
    assert stored(media) == []
    assert not Deliverable.objects.exists()


@pytest.mark.slow
def test_file_that_exceeds_the_vendors_room_is_refused_with_what_helps(
    client: Client, vendor: VendorProfile, listing: Listing, media: Path, settings: Any
) -> None:
    settings.VENDOR_UNAPPROVED_GIB = 1
    begin_upload(listing=ListingFactory(store=vendor.store), filename="Aurora.zip", size=GIB, actor=vendor.user)
    for name, slot in (("studio-file-upload", ()), ("studio-picture-upload", (0,))):
        answer = send(client, listing, makers.archive(a_otf="x") if not slot else makers.picture(), name, *slot)
        assert answer.status_code == 409
        assert "You can store at most 1 GB that no reviewer has approved, and this file would exceed it. Remove drafts" in text_of(answer)
    assert stored(media) == []


@pytest.mark.slow
def test_form_without_a_file_says_to_choose_one(client: Client, listing: Listing) -> None:
    for sent in ({"other": ""}, {"file": ""}):
        answer = client.post(address(listing, "studio-file-upload"), sent)
        assert answer.status_code == 400
    assert MESSAGES["upload_incomplete"] in text_of(answer)


@pytest.mark.slow
def test_accepted_types_of_each_upload_form_are_those_of_the_error_message(client: Client, listing: Listing) -> None:
    page = BeautifulSoup(client.get(address(listing)).content, "html.parser")
    for name, more in UPLOADS:
        form = page.select_one(f"form[action='{address(listing, name, *more)}']")
        assert form is not None
        assert str(form["data-accepted"]) in text_of(send(client, listing, b"MZ" + b"\0" * 500, name, *more))


@pytest.mark.slow
def test_upload_that_is_no_picture_shows_the_error_at_its_slot(client: Client, listing: Listing) -> None:
    answer = send(client, listing, makers.font(), "studio-picture-upload", 3)
    assert answer.status_code == 415
    page = text_of(answer)
    assert "JPG, PNG or WebP" in page.split('id="picture-3-error"')[1].split("</ul>")[0]
    assert "<li>" not in page.split('id="picture-2-error"')[1].split("</ul>")[0]
    assert 'role="alert"> The upload was refused. <a href="#picture-3">See why</a>' in page
    assert f'<a href="{address(listing)}" aria-current="page">Files</a>' in page
    # There are no more places.
    assert send(client, listing, makers.picture(), "studio-picture-upload", catalog_bounds.GALLERY_SLOTS).status_code == 404


@pytest.mark.slow
def test_listing_that_came_under_review_meanwhile_is_shown_as_it_is_now(
    client: Client, listing: Listing, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(**_: Any) -> Inspection:
        Listing.objects.update(status="PendingReview")
        return inspect_deliverable(**_)

    monkeypatch.setattr("vendors.form_uploads.inspect_deliverable", meanwhile)
    answer = send(client, listing, makers.archive(a_otf="x"))
    assert answer.status_code == 409
    assert "The listing is in review" in text_of(answer)
    assert 'type="file"' not in text_of(answer)
    assert stored(media) == []


@pytest.mark.slow
def test_every_refusal_of_the_upload_endpoints_has_a_sentence(client: Client) -> None:
    document = client.get("/api/v1/schema?format=json").json()
    places = [path for path in document["paths"] if path.rsplit("/", 1)[-1] in {"file", "font-specimen", "gallery-image", "audio-preview"}]
    assert len(places) == 4
    for place in places:
        told = " ".join(answer["description"] for answer in document["paths"][place]["post"]["responses"].values())
        codes = {word.strip("`:") for word in told.split() if word.startswith("`")}
        assert codes <= MESSAGES.keys(), place


# --- what is kept -------------------------------------------------------------------------------


def test_file_is_stored_once_and_never_by_djangos_own_handlers(
    client: Client, listing: Listing, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("Django keeps the file as well")

    monkeypatch.setattr("django.core.files.uploadhandler.MemoryFileUploadHandler.new_file", refuse)
    monkeypatch.setattr("django.core.files.uploadhandler.TemporaryFileUploadHandler.new_file", refuse)
    content = makers.archive(a_otf="x" * 10_000)
    answer = send(client, listing, content, filename="Aurora.zip")
    assert answer["Location"] == f"{address(listing)}#file"
    file = Deliverable.objects.get()
    assert stored(media) == [file.object_key]
    assert b"".join(default_storage.read(file.object_key)) == content
    page = text_of(client.get(address(listing)))
    assert "Aurora.zip was uploaded" in page
    assert "<dt>Entries</dt> <dd>1 (1 otf)</dd>" in page
    assert file.sha256 in page


@pytest.mark.slow
def test_previews_are_stored_and_shown_as_everyone_sees_them(client: Client, listing: Listing) -> None:
    assert client.get(address(listing, "studio-specimen")).status_code == 404
    assert send(client, listing, makers.picture(), "studio-picture-upload", 2)["Location"].endswith("#picture-2")
    assert send(client, listing, makers.font(flavor="woff2"), "studio-specimen-upload")["Location"].endswith("#specimen")
    assert send(client, listing, makers.sound("WAV", 0.1), "studio-sound-upload")["Location"].endswith("#sound")
    picture, specimen, sound = (Preview.objects.get(kind=kind) for kind in ("Gallery", "FontSpecimen", "AudioPreview"))
    assert picture.slot == 2
    page = text_of(client.get(address(listing)))
    assert f'src="{picture.url}?size=card" width="32" height="16"' in page
    assert f'<audio controls preload="none" src="{sound.url}"' in page
    face = client.get(address(listing, "studio-specimen"))
    assert specimen.url in face.content.decode()
    assert face["Content-Type"] == "text/css; charset=utf-8"
    assert "no-store" in face["Cache-Control"]


# --- what goes ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_removed_preview_goes_with_its_objects_unless_it_is_of_another_listing_or_under_review(
    client: Client, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    send(client, listing, makers.picture(), "studio-picture-upload", 1)
    preview = Preview.objects.get()
    Listing.objects.update(status="PendingReview")
    assert client.post(address(listing, "studio-preview-remove", preview.pk)).status_code == 409
    Listing.objects.update(status="Draft")
    other = ListingFactory(store=listing.store)
    client.post(address(other, "studio-preview-remove", preview.pk))
    assert Preview.objects.get() == preview
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(address(listing, "studio-preview-remove", preview.pk))["Location"] == f"{address(listing)}#picture-1"
    assert not Preview.objects.exists()
    told = BeautifulSoup(client.get(address(listing)).content, "html.parser").select(".note-success")
    assert told[-1].get_text() == "Picture 2 was removed."
    assert told[-1].find_parent(id="picture-1")
    assert stored(media) == []
    assert history_of(listing)[0].action == "listing.remove_preview"
    # Once more, from another window: it is as it was asked to be.
    assert client.post(address(listing, "studio-preview-remove", preview.pk)).status_code == 302


def test_published_listing_keeps_its_thumbnail_and_may_lose_the_others(client: Client, listing: Listing) -> None:
    first, second = (picture(listing, slot) for slot in (0, 1))
    publish(listing)
    assert "A published listing needs a cover; replace it." in text_of(client.get(address(listing)))
    answer = client.post(address(listing, "studio-preview-remove", first.pk))
    assert answer.status_code == 409
    assert 'role="alert">A listing on sale needs a cover picture.' in text_of(answer)
    assert client.post(address(listing, "studio-preview-remove", second.pk)).status_code == 302
    assert list(Preview.objects.all()) == [first]


@pytest.mark.slow
def test_discarded_candidate_goes_and_the_reviewed_file_stays(
    client: Client, listing: Listing, media: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    publish(listing)
    assert client.post(address(listing, "studio-file-discard")).status_code == 302
    assert Deliverable.objects.get() == listing.approved_deliverable
    send(client, listing, makers.archive(a_otf="x"))
    assert Deliverable.objects.count() == 2
    Listing.objects.update(update_status="PendingReview")
    assert client.post(address(listing, "studio-file-discard")).status_code == 409
    Listing.objects.update(update_status="")
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(address(listing, "studio-file-discard")).status_code == 302
    listing.refresh_from_db()
    assert (listing.candidate_deliverable, listing.status) == (None, "Published")
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


# --- what is shown ------------------------------------------------------------------------------


def test_files_page_begins_with_its_sections_and_whether_they_are_needed(client: Client, listing: Listing) -> None:
    def sections() -> list[str]:
        page = BeautifulSoup(client.get(address(listing)).content, "html.parser")
        return [" ".join(section.get_text(" ").split()) for section in page.select(".page-sections li")]

    optional = ["Type specimen Optional For fonts", "Sound Optional For loops, effects and music"]
    assert sections() == ["File Needed No file yet", "Pictures Needed No cover picture yet", *optional]
    send(client, listing, makers.archive(a_otf="x"), filename="one.zip")
    picture(listing, 1)
    assert sections() == ["File Done one.zip, not approved", "Pictures Needed 1 of 5, no cover picture yet", *optional]
    picture(listing, 0)
    send(client, listing, makers.sound("WAV", 0.1), "studio-sound-upload")
    assert sections() == ["File Done one.zip, not approved", "Pictures Done 2 of 5", optional[0], "Sound Done"]


@pytest.mark.slow
def test_files_page_of_a_draft_ends_with_the_next_step(client: Client, listing: Listing) -> None:
    def next_step() -> tuple[str, list[str]] | None:
        page = BeautifulSoup(client.get(address(listing)).content, "html.parser")
        part = page.select_one("#next")
        if part is None:
            return None
        leads = [str(each.get("href") or each.get("action")) for each in part.select("a, form")]
        return " ".join(part.select_one("h2").get_text().split()), leads  # type: ignore[union-attr]  # the section is named by it

    assert next_step() == ("Next: the file", [f"{address(listing)}#file"])
    with_candidate(listing)
    assert next_step() == ("Next: the cover picture", [f"{address(listing)}#previews"])
    picture(listing, 0, width=32)
    Listing.objects.update(allowed_license_slugs=["gone"])
    assert next_step() == ("Next: the licences", [address(listing, "studio-licences")])
    Listing.objects.update(allowed_license_slugs=None)
    assert next_step() == ("Next: send it for review", [address(listing, "studio-submit")])
    # The overview warns of it, too.
    assert "Pictures are sharp from" in text_of(client.get(address(listing)))
    client.post(address(listing, "studio-submit"))
    assert next_step() is None
    publish(listing)
    assert next_step() is None


@pytest.mark.slow
def test_optional_parts_of_the_files_page_are_collapsed_until_used_or_refused(client: Client, listing: Listing) -> None:
    def opened(answer: Any) -> list[str]:
        page = BeautifulSoup(answer.content, "html.parser")
        return [part for part in ("specimen", "sound") if page.select_one(f"#{part} > details[open]")]

    assert opened(client.get(address(listing))) == []
    assert opened(send(client, listing, makers.picture(), "studio-sound-upload")) == ["sound"]
    send(client, listing, makers.font(flavor="woff2"), "studio-specimen-upload")
    assert opened(client.get(address(listing))) == ["specimen"]


@pytest.mark.slow
def test_candidate_stands_beside_the_reviewed_file(client: Client, listing: Listing) -> None:
    publish(listing)
    assert "A new file is reviewed first" in text_of(client.get(address(listing)))
    send(client, listing, makers.archive(a_otf="x", b_txt="y"), filename="two.zip")
    page = text_of(client.get(address(listing)))
    assert "Buyers get the current one until it is approved" in page
    assert "New: not approved" in page
    assert "two.zip" in page
    assert "a.zip" in page
    Listing.objects.update(update_status="PendingReview")
    page = text_of(client.get(address(listing)))
    assert "The new file is in review" in page
    assert 'id="file-input"' not in page
    # Pictures may be changed all the same.
    assert 'id="picture-1-input"' in page


@pytest.mark.slow
def test_unusual_contents_of_an_archive_are_explained(client: Client, listing: Listing) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../up/setup.exe", b"MZ")
        archive.writestr("inner.zip", b"PK")
    send(client, listing, buffer.getvalue())
    page = text_of(client.get(address(listing)))
    assert "Paths that lead outside the target folder" in page
    assert "Programs or scripts" in page
    assert "Archives inside the archive" in page
    assert "../up/setup.exe" in page


def test_files_page_allows_blob_images_in_its_content_security_policy(client: Client, listing: Listing) -> None:
    policy = client.get(address(listing))["Content-Security-Policy"]
    assert "img-src 'self' data: blob:;" in policy
    assert "blob:" not in policy.replace("img-src 'self' data: blob:;", "")
    assert "unsafe" not in policy
    assert "blob:" not in client.get(reverse("studio-listing", args=[listing.slug]))["Content-Security-Policy"]


@pytest.mark.slow
def test_files_page_sends_no_more_queries_with_many_files(
    client: Client, listing: Listing, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    publish(listing)
    for number in range(40):
        Deliverable.objects.create(
            listing=listing, object_key=f"deliverables/{number}", original_filename=f"{number}.zip", file_size=1, sha256="0" * 64, crc32=0
        )
    for slot in range(catalog_bounds.GALLERY_SLOTS):
        picture(listing, slot)
    client.get(address(listing))
    with django_assert_max_num_queries(8):
        client.get(address(listing))

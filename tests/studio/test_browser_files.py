"""The files of a listing in a real browser: dropped, chosen, cut off, refused, cancelled; with the keyboard, with a phone, without scripts."""

import base64
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Dialog, FilePayload, Page, expect

from catalog import bounds
from catalog.models import Deliverable, Listing, Preview
from catalog.models.files import PreviewKind
from developers.models import FirstPartyToken
from marketplace.core.ids import new_id
from tests.files import makers
from tests.screenshots.driving import overflows, still, violations
from tests.servers.gate import Gate, gate
from tests.waiting import until
from vendors.bounds import MAX_PART_BYTES
from vendors.models import Upload
from vendors.previews import process_preview
from vendors.services.files import attach_preview
from vendors.studio.upload_fields import MESSAGES

from .conftest import Opened

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MB = 10**6


@pytest.fixture
def opened(opened: Opened, listing: Listing) -> Opened:
    """Open the page as the vendor: `opened("phone")`, `opened("desktop", java_script=False)`, `opened(wire=wire)`."""
    return partial(opened, listing.store.owner, f"/dashboard/studio/listings/{listing.slug}/files")


@pytest.fixture
def wire(live_server: Any) -> Iterator[Gate]:
    """The way to the server: slow until one lets it go."""
    with gate(live_server.thread.port) as laid:
        laid.slow(0.05)
        yield laid
        laid.slow(0)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A zip of 40 MB that nothing shrinks: it is sent in three parts."""
    path = tmp_path / "Aurora.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(4):
            archive.writestr(f"fonts/{number}.bin", os.urandom(10 * MB))
    return path


def drop(page: Page, selector: str, *files: tuple[str, bytes]) -> None:
    """Drop files on a part of the page."""
    page.evaluate(
        """([selector, files]) => {
            const data = new DataTransfer();
            for (const [name, text] of files) {
                data.items.add(new File([Uint8Array.from(atob(text), (each) => each.charCodeAt(0))], name));
            }
            for (const type of ["dragover", "drop"]) {
                document.querySelector(selector).dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
            }
        }""",
        [selector, [[name, base64.b64encode(content).decode()] for name, content in files]],
    )


def progress_of(page: Page) -> float:
    return float(page.locator(".under-way progress").evaluate("(each) => each.value"))


def cut(page: Page, wire: Gate, percent: int) -> int:
    """Cut the connection once so much of the file has arrived, and let it be again; return how much the server has kept."""
    wire.slow(0.01)
    page.wait_for_function("(percent) => document.querySelector('.under-way progress')?.value > percent", arg=percent)
    wire.cut_after = 0
    words = page.locator(".under-way [data-words]")
    expect(words).to_have_text(re.compile(r"^The connection was lost at \d+ percent\. .*goes on from there in 3 seconds\.$"))
    assert not Deliverable.objects.exists()
    wire.cut_after = None
    wire.slow(0)
    return Upload.objects.get().offset


def test_upload_of_a_large_file_shows_progress_speed_and_time_left(
    opened: Opened, wire: Gate, listing: Listing, large: Path, media: Path
) -> None:
    page, visit = opened(wire=wire)
    page.get_by_label("Upload the file").set_input_files(large)
    words = page.locator(".under-way [data-words]")
    expect(words).to_have_text(re.compile(r"^[\d.]+ [KM]B of 38\.1 MB · [\d.]+ [KM]B a second · .+ left$"))
    early = progress_of(page)
    page.wait_for_function("(early) => document.querySelector('.under-way progress').value > early", arg=early)
    # Whoever leaves now is asked.
    assert page.evaluate("!dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    wire.slow(0)
    expect(page.locator("#file .note-success")).to_have_text("Aurora.zip was uploaded and checked.")
    assert page.evaluate("dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    file = Deliverable.objects.get()
    assert (file.original_filename, file.file_size) == ("Aurora.zip", large.stat().st_size)
    assert page.locator(".under-way").count() == 0
    assert (visit.elsewhere, visit.faults) == ([], [])
    # The next one takes its place, if the vendor says so.
    page.once("dialog", lambda asked: asked.dismiss())
    drop(page, "#file", ("Aurora-2.zip", makers.archive(a_otf="x")))
    assert Deliverable.objects.get().original_filename == "Aurora.zip"
    expect(page.locator(".under-way")).to_have_count(0)
    asked: list[str] = []

    def agree(question: Dialog) -> None:
        asked.append(question.message)
        question.accept()

    page.once("dialog", agree)
    drop(page, "#file", ("Aurora-2.zip", makers.archive(a_otf="x")))
    assert asked == ["Replace Aurora.zip?"]
    expect(page.locator("#file .note-success")).to_contain_text("Aurora-2.zip")
    assert Deliverable.objects.get().original_filename == "Aurora-2.zip"


def test_running_upload_is_shown_among_the_sections_and_cancelled_keeps_nothing(
    opened: Opened, wire: Gate, large: Path, media: Path
) -> None:
    page, _ = opened(wire=wire)
    wire.slow(0.5)
    section = page.locator("#page-sections li").first
    page.get_by_label("Upload the file").set_input_files(large)
    page.wait_for_function("() => document.querySelector('.under-way progress')?.value > 1")
    expect(section.get_by_text("Uploading")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#upload-news")).to_have_text("Aurora.zip is cancelled. Nothing of it was kept.")
    expect(page.locator(".under-way")).to_have_count(0)
    expect(section.get_by_text("Uploading")).to_have_count(0)
    # The server learns of it behind the megabytes that are still in the wire.
    wire.slow(0)
    page.reload()
    expect(page.locator("#file")).to_contain_text("No file yet.")
    until(lambda: not [path for path in media.rglob("*") if path.is_file()], "an empty store")
    until(lambda: not Upload.objects.exists(), "no upload")
    assert not Deliverable.objects.exists()


def test_upload_goes_on_after_a_lost_connection_and_where_the_same_file_is_chosen_after_the_page_was_closed(
    opened: Opened, wire: Gate, large: Path
) -> None:
    size = large.stat().st_size
    page, _ = opened(wire=wire)
    # It would try again by itself.
    still(page)
    page.get_by_label("Upload the file").set_input_files(large)
    arrived = cut(page, wire, percent=50)
    assert arrived >= MAX_PART_BYTES
    before = wire.received
    wire.slow(0.05)
    page.get_by_role("button", name="Try again now").click()
    page.wait_for_function("() => document.querySelector('.under-way progress')?.value > 43")
    # A part has arrived since the first loss, so that the second waits no longer.
    again = cut(page, wire, percent=90)
    assert again > arrived
    assert wire.received - before < size - arrived + MB
    page.evaluate("addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), {capture: true})")
    page.reload()
    before = wire.received
    page.get_by_label("Upload the file").set_input_files(large)
    expect(page.locator("#file .note-success")).to_contain_text("was uploaded and checked")
    assert Deliverable.objects.get().file_size == size
    assert wire.received - before < size - again + MB
    assert page.evaluate("localStorage.length") == 0


def test_files_of_every_kind_go_to_their_places(opened: Opened, tmp_path: Path) -> None:
    page, visit = opened("phone")
    chosen = {
        "cover.png": makers.picture(),
        "Aurora.zip": makers.archive(a_otf="x"),
        "second.jpg": makers.picture(),
        "Aurora.woff2": makers.font(flavor="woff2"),
        "loop.wav": makers.sound("WAV", 0.1),
        "notes.exe": b"MZ",
    }
    for name, content in chosen.items():
        (tmp_path / name).write_bytes(content)
    # The font and the sound are asked about, because everyone can hear and see them.
    page.on("dialog", lambda question: question.accept())
    page.get_by_label("Add files of any kind").set_input_files([tmp_path / name for name in chosen])
    for place in ("file", "picture-0", "picture-1", "specimen", "sound"):
        expect(page.locator(f"#{place} .note-success")).to_contain_text(re.compile("[Uu]ploaded"))
    expect(page.locator("#all-error")).to_contain_text("notes.exe: there is no place for this type of file.")
    assert Deliverable.objects.get().original_filename == "Aurora.zip"
    assert Preview.objects.count() == 4
    assert violations(page) == []
    assert not overflows(page)
    assert (visit.elsewhere, visit.faults) == ([], [])


def test_refused_upload_shows_its_reason_beside_the_field(opened: Opened, listing: Listing, tmp_path: Path) -> None:
    page, _ = opened()
    field, error = page.get_by_label("Upload the file"), page.locator("#file-error")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/file") else None)
    huge = tmp_path / "huge.zip"
    with huge.open("wb") as file:
        file.truncate(bounds.DELIVERABLE_BYTES + 1)
    field.set_input_files(huge)
    expect(error).to_contain_text("huge.zip: It is too large: the maximum is 5 GB.")
    field.set_input_files({"name": "empty.zip", "mimeType": "", "buffer": b""})
    expect(error).to_contain_text("empty.zip is empty, or is a folder.")
    field.set_input_files({"name": "setup.exe", "mimeType": "", "buffer": b"MZ"})
    expect(error).to_contain_text("an unsupported file type. Send a zip or tar archive")
    drop(page, "#file", ("a.zip", b"a"), ("b.zip", b"b"))
    expect(error).to_contain_text("Put several into one zip archive.")
    assert sent == []

    field.set_input_files({"name": "words.zip", "mimeType": "", "buffer": b"plain text"})
    expect(error).to_contain_text("What counts is the content, not the name.")
    assert field.get_attribute("aria-invalid") == "true"
    assert violations(page) == []
    assert len(sent) == 1

    # The page's token has ended meanwhile: another one is fetched by itself.
    FirstPartyToken.objects.all().delete()
    field.set_input_files({"name": "good.zip", "mimeType": "", "buffer": makers.archive(a_otf="x")})
    expect(page.locator("#file .note-success")).to_contain_text("good.zip")
    # Sent for review in another window: nothing is sent for nothing.
    Listing.objects.update(status="PendingReview")
    sent.clear()
    page.get_by_label("Replace the file").set_input_files({"name": "late.zip", "mimeType": "", "buffer": makers.archive(a_otf="y")})
    expect(error).to_contain_text("It is in review")
    assert sent == []


def test_second_upload_at_once_is_told_of_the_first(opened: Opened, wire: Gate, large: Path) -> None:
    slow, _ = opened(wire=wire)
    slow.get_by_label("Upload the file").set_input_files(large)
    slow.wait_for_function("() => document.querySelector('.under-way progress')?.value > 1")
    drop(slow, "#file", ("meanwhile.zip", makers.archive(a_otf="y")))
    expect(slow.locator("#file-error")).to_contain_text("An upload is already in progress here.")
    quick, _ = opened()
    drop(quick, "#file", ("quick.zip", makers.archive(a_otf="x")))
    expect(quick.locator("#file .note-success")).to_contain_text("quick.zip")
    wire.slow(0)
    expect(slow.locator("#file-error")).to_contain_text(MESSAGES["upload_conflict"])
    assert Deliverable.objects.get().original_filename == "quick.zip"


def test_session_that_ends_in_the_middle_loses_nothing_and_says_what_to_do(opened: Opened, wire: Gate, large: Path) -> None:
    page, _ = opened(wire=wire)
    page.get_by_label("Upload the file").set_input_files(large)
    page.wait_for_function("() => document.querySelector('.under-way progress')?.value > 1")
    Session.objects.all().delete()
    wire.slow(0)
    expect(page.locator("#file-error")).to_contain_text("You are no longer signed in. Sign in again")
    # What has arrived stays, and the upload goes on from there.
    assert (Upload.objects.count(), Deliverable.objects.count()) == (1, 0)
    # The next one needs the sign-in, and is asked for before anything is sent.
    page.get_by_label("Add pictures").set_input_files({"name": "a.png", "mimeType": "", "buffer": makers.picture()})
    expect(page.locator("#pictures-error")).to_contain_text("You are no longer signed in. Sign in again")


@pytest.fixture
def pictures(listing: Listing) -> Callable[..., list[Preview]]:
    """Add pictures of these sizes to the gallery."""

    def make(*sizes: tuple[int, int]) -> list[Preview]:
        return [
            attach_preview(
                listing=listing,
                kind=PreviewKind.GALLERY,
                slot=slot,
                processed=process_preview(PreviewKind.GALLERY, makers.picture(size=size)),
                actor=listing.store.owner,
            )
            for slot, size in enumerate(sizes)
        ]

    return make


def test_descriptions_that_are_not_saved_stay_while_others_are_saved_moved_removed_and_replaced(
    opened: Opened, pictures: Callable[..., list[Preview]]
) -> None:
    pictures(*[(300, 200)] * 4)
    page, visit = opened("phone")
    asked: list[str] = []

    def accept(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept()

    page.on("dialog", accept)
    slots = [page.locator(f"#picture-{number}") for number in range(4)]
    texts = [slot.get_by_label("Description") for slot in slots]
    for number, text in enumerate(texts):
        text.fill(f"Description {number}")
    slots[1].get_by_role("button", name="Save").click()
    expect(slots[1].locator(".note-success")).to_have_text("The description of picture 2 was saved.")
    assert list(Preview.objects.values_list("alt_text", flat=True)) == ["", "Description 1", "", ""]
    for number, text in enumerate(texts):
        expect(text).to_have_value(f"Description {number}")
    slots[2].get_by_role("button", name="Move earlier").click()
    expect(slots[1].locator(".note-success")).to_have_text("The picture was moved: it is picture 2 now.")
    for text, number in zip(texts, [0, 2, 1, 3], strict=True):
        expect(text).to_have_value(f"Description {number}")
    slots[3].get_by_text("Remove").first.click()
    slots[3].get_by_role("button", name="Remove", exact=True).click()
    expect(slots[3].locator(".note-success")).to_have_text("Picture 4 was removed.")
    expect(slots[3].locator(".note-success")).to_be_focused()
    slots[1].locator(".replace > summary").click()
    slots[1].locator("input[type=file]").set_input_files({"name": "new.png", "mimeType": "", "buffer": makers.picture(colour="navy")})
    expect(slots[1].locator(".note-success")).to_have_text("Uploaded")
    expect(texts[1]).to_have_value("Description 2")
    expect(texts[0]).to_have_value("Description 0")
    assert asked == []
    assert violations(page) == []
    assert not overflows(page)
    assert not page.evaluate("dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    assert (visit.elsewhere, visit.faults) == ([], [])


def test_descriptions_stay_where_one_is_refused_or_the_connection_is_lost(opened: Opened, pictures: Callable[..., list[Preview]]) -> None:
    pictures(*[(300, 200)] * 2)
    page, _ = opened()
    slots = [page.locator(f"#picture-{number}") for number in range(2)]
    texts = [slot.get_by_label("Description") for slot in slots]
    page.evaluate("document.querySelector('#picture-0 textarea').removeAttribute('maxlength')")
    texts[0].fill("x" * 251)
    texts[1].fill("Description 2")
    slots[0].get_by_role("button", name="Save").click()
    expect(slots[0].locator(".errorlist").filter(has_text="at most 250")).to_be_visible()
    expect(texts[0]).to_be_focused()
    expect(texts[1]).to_have_value("Description 2")
    page.context.set_offline(offline=True)
    texts[1].press("Control+s")
    expect(slots[1].locator(".note-error")).to_contain_text("Nothing was changed.")
    expect(texts[1]).to_have_value("Description 2")
    page.context.set_offline(offline=False)
    texts[1].press("Control+s")
    expect(slots[1].locator(".note-success")).to_contain_text("was saved")
    expect(slots[1].locator(".note-error")).to_have_count(0)
    expect(texts[1]).to_be_focused()
    # Replaced in another window.
    Preview.objects.filter(slot=1).update(id=new_id())
    texts[1].fill("Description 3")
    slots[1].get_by_role("button", name="Save").click()
    expect(slots[1].locator(".note-error")).to_contain_text("This picture was replaced or removed in the meantime.")
    expect(texts[1]).to_have_value("Description 3")
    assert violations(page) == []


def test_refused_pictures_take_no_place_and_all_are_named(opened: Opened) -> None:
    page, _ = opened()
    good = [FilePayload(name=f"{name}.png", mimeType="", buffer=makers.picture()) for name in ("one", "two")]
    bad = [FilePayload(name="odd.heic", mimeType="", buffer=b"x"), FilePayload(name="empty.png", mimeType="", buffer=b"")]
    # What the service refuses leaves its place to the next picture.
    page.get_by_label("Add pictures").set_input_files([*bad, FilePayload(name="not.png", mimeType="", buffer=b"none"), *good])
    errors = page.locator("#pictures-error li")
    expect(errors).to_have_text([re.compile("odd.heic .*Send a JPG"), re.compile("empty.png is empty"), re.compile("not.png: .*JPG")])
    expect(page.locator("#picture-1 .note-success")).to_have_text("Uploaded")
    expect(page.locator("#picture-0-error li, #picture-2 .under-way")).to_have_count(0)
    assert sorted(Preview.objects.values_list("slot", flat=True)) == [0, 1]
    expect(page.locator("#pictures-error")).to_be_in_viewport()
    # The next try begins without them.
    page.get_by_label("Add pictures").set_input_files([good[0], good[1], good[0], good[1]])
    expect(errors).to_have_text(["All places are taken: two.png was not uploaded. Replace or remove a picture first."])
    expect(page.locator("#picture-4 .note-success")).to_have_text("Uploaded")
    # A refused picture leaves what was there.
    page.once("dialog", lambda question: question.accept())
    drop(page, "#picture-0", ("not.png", b"no picture"))
    expect(page.locator("#picture-0-error")).to_contain_text("JPG, PNG or WebP")
    assert "/api/" in str(page.locator("#picture-0 img").get_attribute("src"))


def test_files_of_any_kind_become_public_previews_only_after_a_confirmation(opened: Opened) -> None:
    page, _ = opened("phone")
    anything, error = page.get_by_label("Add files of any kind"), page.locator("#all-error")
    asked: list[str] = []

    def refuse(question: Dialog) -> None:
        asked.append(question.message)
        question.dismiss()

    page.once("dialog", refuse)
    anything.set_input_files({"name": "loop.wav", "mimeType": "", "buffer": makers.sound("WAV", 0.1)})
    expect(error).to_contain_text("loop.wav was not uploaded. To sell it")
    expect(error).to_be_in_viewport()
    assert asked == ["Show loop.wav to everyone? To sell it, cancel and choose it under “The file that buyers get”."]
    assert not Preview.objects.exists()
    page.once("dialog", lambda question: question.accept())
    anything.set_input_files({"name": "loop.wav", "mimeType": "", "buffer": makers.sound("WAV", 0.1)})
    expect(page.locator("#sound .note-success")).to_contain_text("loop.wav")
    expect(error.locator("li")).to_have_count(0)
    # A dropped folder has no content that a browser would send.
    page.evaluate("DataTransferItem.prototype.webkitGetAsEntry = () => ({isDirectory: true, name: 'Aurora'})")
    drop(page, "#file", ("Aurora", b"folder"))
    expect(page.locator("#file-error")).to_have_text("Aurora is a folder. Put the folder into a zip archive.")
    assert not Deliverable.objects.exists()

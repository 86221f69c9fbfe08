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
from playwright.sync_api import Dialog, FilePayload, Locator, Page, expect

from catalog import bounds
from catalog.models import Deliverable, Listing, Preview
from developers.models import FirstPartyToken
from tests.files import makers
from tests.files.makers import picture
from tests.keyboard import choose, reach
from tests.screenshots.driving import Visit, overflows, still, violations
from tests.servers.gate import Gate, gate
from tests.vendors.cases import publish
from tests.waiting import until
from vendors.bounds import PART_BYTES
from vendors.models import Upload

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MB = 10**6


@pytest.fixture
def opened(opened: Callable[..., tuple[Page, Visit]], listing: Listing) -> Callable[..., tuple[Page, Visit]]:
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
    """A zip of 60 MB that nothing shrinks."""
    path = tmp_path / "Aurora.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(6):
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
    """Return how far the one upload is, in percent."""
    return float(page.locator(".under-way progress").evaluate("(each) => each.value"))


def top_of(part: Locator) -> float:
    """Return where a part of the page begins, from above."""
    return float(part.evaluate("(each) => each.getBoundingClientRect().top"))


def cut_half_way(page: Page, wire: Gate) -> None:
    """Cut the connection once half of the file has arrived."""
    page.wait_for_function("() => document.querySelector('.under-way progress')?.value > 50")
    wire.cut_after = 0


def test_large_file_moves_and_tells_speed_and_time_left(
    opened: Callable[..., tuple[Page, Visit]], wire: Gate, listing: Listing, large: Path, media: Path
) -> None:
    page, visit = opened(wire=wire)
    page.get_by_label("Upload the file").set_input_files(large)
    words = page.locator(".under-way [data-words]")
    expect(words).to_have_text(re.compile(r"^[\d.]+ [KM]B of 57\.2 MB · [\d.]+ [KM]B a second · .+ left$"))
    early = progress_of(page)
    page.wait_for_function("(early) => document.querySelector('.under-way progress').value > early", arg=early)
    # Whoever leaves now is asked.
    assert page.evaluate("!dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    wire.slow(0)
    expect(page.locator("#file .note-success")).to_have_text("Aurora.zip was uploaded and checked.")
    assert page.evaluate("dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    expect(page.locator("#file .pairs").first).to_contain_text("6 (6 bin)")
    expect(page.locator("#upload-news")).to_have_text("Aurora.zip was uploaded and checked.")
    file = Deliverable.objects.get()
    assert (file.original_filename, file.file_size) == ("Aurora.zip", large.stat().st_size)
    assert page.locator(".under-way").count() == 0
    assert (visit.elsewhere, visit.faults) == ([], [])
    expect(page.locator("#file .note-success")).to_be_visible()
    expect(page.locator(".parts")).to_contain_text("Aurora.zip, not reviewed yet")
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


def test_cancelled_upload_keeps_nothing(opened: Callable[..., tuple[Page, Visit]], wire: Gate, large: Path, media: Path) -> None:
    page, _ = opened(wire=wire)
    wire.slow(0.5)
    page.get_by_label("Upload the file").set_input_files(large)
    page.wait_for_function("() => document.querySelector('.under-way progress')?.value > 1")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#upload-news")).to_have_text("Aurora.zip is cancelled. Nothing of it was kept.")
    expect(page.locator(".under-way")).to_have_count(0)
    # The server learns of it behind the megabytes that are still in the wire.
    wire.slow(0)
    page.reload()
    expect(page.locator("#file")).to_contain_text("No file yet.")
    until(lambda: not [path for path in media.rglob("*") if path.is_file()], "an empty store")
    until(lambda: not Upload.objects.exists(), "no upload")
    assert not Deliverable.objects.exists()


def test_connection_lost_half_way_is_told_and_the_upload_goes_on_from_there(
    opened: Callable[..., tuple[Page, Visit]], wire: Gate, large: Path
) -> None:
    page, _ = opened(wire=wire)
    wire.slow(0.01)
    # It would try again by itself.
    still(page)
    page.get_by_label("Upload the file").set_input_files(large)
    cut_half_way(page, wire)
    words = page.locator(".under-way [data-words]")
    expect(words).to_have_text(re.compile(r"^The connection was lost at \d+ percent\. .*goes on from there in \d+ seconds\.$"))
    assert not Deliverable.objects.exists()
    wire.cut_after = None
    wire.slow(0)
    before, arrived = wire.received, Upload.objects.get().offset
    assert arrived >= PART_BYTES
    page.get_by_role("button", name="Try again now").click()
    expect(page.locator("#file .note-success")).to_contain_text("was uploaded and checked")
    assert Deliverable.objects.get().file_size == large.stat().st_size
    assert wire.received - before < large.stat().st_size - arrived + MB


def test_upload_goes_on_after_the_page_was_closed_where_the_same_file_is_chosen(
    opened: Callable[..., tuple[Page, Visit]], wire: Gate, large: Path, media: Path
) -> None:
    page, _ = opened(wire=wire)
    wire.slow(0.01)
    still(page)
    page.get_by_label("Upload the file").set_input_files(large)
    cut_half_way(page, wire)
    expect(page.locator(".under-way [data-words]")).to_contain_text("The connection was lost")
    wire.cut_after = None
    wire.slow(0)
    page.evaluate("addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), {capture: true})")
    page.reload()
    before, arrived = wire.received, Upload.objects.get().offset
    page.get_by_label("Upload the file").set_input_files(large)
    expect(page.locator("#file .note-success")).to_contain_text("was uploaded and checked")
    assert Deliverable.objects.get().file_size == large.stat().st_size
    assert wire.received - before < large.stat().st_size - arrived + MB
    assert page.evaluate("localStorage.length") == 0


def test_files_of_every_kind_go_to_their_places(opened: Callable[..., tuple[Page, Visit]], tmp_path: Path) -> None:
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
    page.get_by_label("Add files of any kind").set_input_files([tmp_path / name for name in chosen])
    for place in ("file", "picture-0", "picture-1", "specimen", "sound"):
        expect(page.locator(f"#{place} .note-success")).to_contain_text("was uploaded and checked")
    expect(page.locator("#all-error")).to_have_text("notes.exe: there is no place for this type of file.")
    assert Deliverable.objects.get().original_filename == "Aurora.zip"
    assert Preview.objects.count() == 4
    assert violations(page) == []
    assert not overflows(page)
    drop(page, "#all", ("third.png", makers.picture()))
    expect(page.locator("#picture-2 .note-success")).to_contain_text("third.png")
    assert (visit.elsewhere, visit.faults) == ([], [])


def test_refusals_stand_beside_the_field_and_say_what_to_do(
    opened: Callable[..., tuple[Page, Visit]], listing: Listing, tmp_path: Path
) -> None:
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
    expect(error).to_contain_text("an unsupported file type. Supported: zip, tar")
    drop(page, "#file", ("a.zip", b"a"), ("b.zip", b"b"))
    expect(error).to_contain_text("Put several into one zip archive.")
    assert sent == []
    # What is folded is opened where something is wrong with it.
    drop(page, "#sound", ("setup.exe", b"MZ"))
    expect(page.locator("#sound-error")).to_be_visible()

    field.set_input_files({"name": "words.zip", "mimeType": "", "buffer": b"plain text"})
    expect(error).to_contain_text("What counts is the content, not the name.")
    assert field.get_attribute("aria-invalid") == "true"
    field.set_input_files({"name": "cut.zip", "mimeType": "", "buffer": makers.archive(a_otf="x")[:-10]})
    expect(error).to_contain_text("Export it again")
    assert violations(page) == []
    assert len(sent) == 2

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


def test_session_that_ends_in_the_middle_loses_nothing_and_says_what_to_do(
    opened: Callable[..., tuple[Page, Visit]], wire: Gate, large: Path
) -> None:
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
    expect(page.locator("#picture-0-error")).to_contain_text("You are no longer signed in. Sign in again")
    expect(page.locator("#picture-0-error")).to_be_visible()
    assert not Preview.objects.exists()


def test_second_upload_at_once_is_told_of_the_first(opened: Callable[..., tuple[Page, Visit]], wire: Gate, large: Path) -> None:
    slow, _ = opened(wire=wire)
    slow.get_by_label("Upload the file").set_input_files(large)
    slow.wait_for_function("() => document.querySelector('.under-way progress')?.value > 1")
    drop(slow, "#file", ("meanwhile.zip", makers.archive(a_otf="y")))
    expect(slow.locator("#file-error")).to_contain_text("An upload is already in progress here.")
    quick, _ = opened()
    drop(quick, "#file", ("quick.zip", makers.archive(a_otf="x")))
    expect(quick.locator("#file .note-success")).to_contain_text("quick.zip")
    wire.slow(0)
    expect(slow.locator("#file-error")).to_contain_text("Another file came in here")
    assert Deliverable.objects.get().original_filename == "quick.zip"


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_dropped_pictures_fill_the_free_places_and_are_shown(
    opened: Callable[..., tuple[Page, Visit]], listing: Listing, size: str
) -> None:
    page, visit = opened(size)
    assert violations(page) == []
    drop(page, "#picture-2", ("two.png", picture(size=(300, 200))))
    expect(page.locator("#picture-2 .note-success")).to_contain_text("two.png")
    drop(page, "#previews", *((f"{number}.png", picture(size=(300, 200), mode="L")) for number in range(5)))
    expect(page.locator("#pictures-error")).to_have_text("1 found no free place. Drop a picture on one that is there to replace it.")
    expect(page.locator(".slot[data-taken]")).to_have_count(5)
    expect(page.locator(".under-way")).to_have_count(0)
    assert sorted(Preview.objects.values_list("slot", flat=True)) == [0, 1, 2, 3, 4]
    page.evaluate("document.querySelectorAll('img[loading=lazy]').forEach((image) => { image.loading = 'eager'; })")
    page.wait_for_function("() => [...document.querySelectorAll('.slot img')].every((each) => each.src.includes('/api/') && each.complete)")
    assert page.evaluate("[...document.querySelectorAll('.slot img')].every((each) => each.naturalWidth === 300)")
    drop(page, "#specimen", ("Aurora.woff2", makers.font(flavor="woff2")))
    expect(page.locator("#specimen .note-success")).to_contain_text("Aurora.woff2")
    page.get_by_text("Try it as buyers do").click()
    page.wait_for_function("() => document.fonts.check('20px specimen')")
    page.get_by_label(re.compile("^Size")).fill("96")
    assert page.locator("#tester-text").evaluate("(each) => getComputedStyle(each).fontSize") == "96px"
    drop(page, "#sound", ("loop.wav", makers.sound("WAV", 0.1)))
    expect(page.locator("#sound audio")).to_have_count(1)
    assert violations(page) == []
    assert not overflows(page)
    assert (visit.elsewhere, visit.faults) == ([], [])
    page.once("dialog", lambda question: question.accept())
    drop(page, "#picture-0", ("not.png", b"no picture"))
    expect(page.locator("#picture-0-error")).to_contain_text("JPG, PNG or WebP")
    # What was there is shown again.
    assert "/api/" in str(page.locator("#picture-0 img").get_attribute("src"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_gallery_is_compact_and_has_one_way_to_add_and_one_to_replace(
    window: Callable[..., Page], live_server: Any, listing: Listing, size: str, scheme: str
) -> None:
    page = window(size, listing.store.owner, scheme=scheme)
    page.goto(f"{live_server.url}/dashboard/studio/listings/{listing.slug}/files")
    slots, pickers = page.locator(".slot"), page.locator("#previews input[type=file]").filter(visible=True)
    expect(slots.filter(visible=True)).to_have_count(1 if size == "phone" else bounds.GALLERY_SLOTS)
    expect(pickers).to_have_count(1)
    expect(page.locator("#specimen-input, #sound-input").filter(visible=True)).to_have_count(0)
    expect(page.locator("#next")).to_contain_text("Next: the file")
    images = [FilePayload(name=f"{number}.png", mimeType="", buffer=makers.picture(size=(300, 200))) for number in range(3)]
    page.get_by_label("Add pictures").set_input_files(images)
    expect(page.locator(".slot .note-success")).to_have_count(3)
    page.get_by_label("Upload the file").set_input_files({"name": "a.zip", "mimeType": "", "buffer": makers.archive(a_otf="x")})
    expect(page.locator("#next").get_by_role("button", name="Send for review")).to_be_visible()
    page.reload()
    expect(slots.filter(visible=True)).to_have_count(4 if size == "phone" else bounds.GALLERY_SLOTS)
    expect(pickers).to_have_count(1)
    cover, second = page.locator("#picture-0"), page.locator("#picture-1")
    assert top_of(cover) < top_of(second) if size == "phone" else top_of(cover) == top_of(second)
    # The buttons that move a picture stand above it, those that save and replace beside and below.
    later, save = second.get_by_role("button", name="Move later"), second.get_by_role("button", name="Save")
    assert top_of(later) < top_of(second.locator("img")) < top_of(save) < top_of(second.locator(".replace > summary"))
    cover.locator(".replace > summary").click()
    expect(pickers).to_have_count(2)
    assert violations(page) == []
    assert not overflows(page)
    page.get_by_role("button", name="Send for review").click()
    expect(page.get_by_role("heading", name="Your listing is in review")).to_be_visible()


def test_candidate_of_a_published_listing_is_shown_beside_the_reviewed_file(
    opened: Callable[..., tuple[Page, Visit]], listing: Listing
) -> None:
    publish(listing)
    page, _ = opened()
    page.get_by_label("Upload a new file").set_input_files(
        {"name": "two.zip", "mimeType": "", "buffer": makers.archive(a_otf="x", b_txt="y")}
    )
    expect(page.get_by_role("heading", name="New: not reviewed yet")).to_be_visible()
    expect(page.get_by_role("heading", name="Reviewed: what buyers get")).to_be_visible()
    expect(page.get_by_role("button", name="Send the new file for review")).to_be_visible()
    assert violations(page) == []
    page.get_by_text("Remove the new file").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("The file was removed.")).to_be_visible()
    listing.refresh_from_db()
    assert (listing.candidate_deliverable, listing.status) == (None, "Published")


def test_keyboard_alone_chooses_and_removes(opened: Callable[..., tuple[Page, Visit]], tmp_path: Path) -> None:
    page, _ = opened()
    image = tmp_path / "thumb.png"
    image.write_bytes(makers.picture())
    choose(page, "pictures-input", image)
    expect(page.locator("#picture-0 .note-success")).to_contain_text("thumb.png")
    reach(page, "Replace cover picture", "textContent")
    page.keyboard.press("Enter")
    choose(page, "picture-0-input", image)
    # One goes on where one was.
    expect(page.locator("#picture-0 .replace > summary")).to_be_focused()
    expect(page.locator("#picture-0 .replace")).not_to_have_attribute("open", "")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("It is removed.")).to_be_visible()
    assert not Preview.objects.exists()


def test_without_scripts_forms_upload_and_tell(opened: Callable[..., tuple[Page, Visit]], large: Path) -> None:
    page, _ = opened("phone", java_script=False)
    expect(page.locator(".slot").filter(visible=True)).to_have_count(1)
    form = page.locator("form[data-place=file]")
    form.get_by_label("Upload the file").set_input_files(large)
    form.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("Aurora.zip was uploaded and checked.")).to_be_visible()
    assert Deliverable.objects.get().file_size == large.stat().st_size
    form = page.locator("form[data-place=picture-0]")
    form.get_by_label("Add cover picture").set_input_files({"name": "no.png", "mimeType": "image/png", "buffer": b"none"})
    form.get_by_role("button", name="Upload", exact=True).click()
    expect(page.locator("#picture-0-error")).to_contain_text("JPG, PNG or WebP")
    form.get_by_label("Add cover picture").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": makers.picture()})
    form.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("The picture was added.")).to_be_visible()
    assert Preview.objects.get().slot == 0
    # The next free place shows, and is opened before it can be used.
    expect(page.locator(".slot").filter(visible=True)).to_have_count(2)
    page.locator("#picture-1").get_by_text("Add picture 2").first.click()
    form = page.locator("form[data-place=picture-1]")
    form.get_by_label("Add picture 2").set_input_files({"name": "b.png", "mimeType": "image/png", "buffer": makers.picture()})
    form.get_by_role("button", name="Upload", exact=True).click()
    expect(page.locator(".slot[data-taken]")).to_have_count(2)
    page.get_by_text("Sound", exact=True).last.click()
    expect(page.locator("form[data-place=sound]").get_by_label("Upload a sound")).to_be_visible()
    page.locator("#next").get_by_role("button", name="Send for review").click()
    expect(page.get_by_role("heading", name="Your listing is in review")).to_be_visible()
    assert not overflows(page)

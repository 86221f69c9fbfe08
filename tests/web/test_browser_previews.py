"""The previews of a listing in a real browser: pictures in a lightbox, a player that stays in view, skills and archives."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from catalog.models import Listing, Preview
from marketplace.storage import default_storage
from tests.factories import PreviewFactory
from tests.files.makers import picture, sound
from tests.screenshots.driving import MOST_BYTES, overflows, violations, watched
from tests.shop import archive, on_sale

from .test_contents import with_file

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SWIPE = """([from, to]) => {
    const stage = document.querySelector(".lightbox-stage");
    const at = (x) => ({bubbles: true, isPrimary: true, clientX: x, clientY: 300});
    stage.dispatchEvent(new PointerEvent("pointerdown", at(from)));
    stage.dispatchEvent(new PointerEvent("pointerup", at(to)));
}"""


def stored(preview: Preview, content: bytes) -> Preview:
    Preview.objects.filter(pk=preview.pk).update(size=len(content))
    default_storage.save_bytes(preview.object_key, content)
    return preview


@pytest.fixture
def listing() -> Listing:
    """A listing with three pictures that are really stored."""
    listing = on_sale(archive(), title="Halden Grotesk", slug="halden-grotesk")
    for slot in range(3):
        size = (900, 600) if slot else (1600, 1000)
        details = {"width": size[0], "height": size[1]}
        preview = PreviewFactory(listing=listing, content_type="image/png", slot=slot, alt_text=f"Specimen {slot + 1}", details=details)
        stored(preview, picture(size=size))
    return listing


def test_pictures_are_looked_through_by_keyboard_and_swipe(window: Callable[..., Page], live_server: Any, listing: Listing) -> None:
    page = window("phone")
    visit = watched(page, live_server.url)
    page.goto(f"{live_server.url}/assets/{listing.slug}")
    page.get_by_role("link", name="Specimen 2 in full size").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Pictures of Halden Grotesk")
    shown = dialog.get_by_role("img")
    expect(shown).to_have_accessible_name("Specimen 2")
    expect(dialog.get_by_text("Picture 2 of 3")).to_be_visible()
    assert violations(page) == []
    for key, name in (("ArrowRight", "3"), ("ArrowRight", "1"), ("ArrowLeft", "3"), ("Home", "1"), ("End", "3")):
        page.keyboard.press(key)
        expect(shown).to_have_accessible_name(f"Specimen {name}")
    for way, name in (([300, 60], "1"), ([60, 300], "3"), ([60, 300], "2"), ([60, 90], "2")):
        page.evaluate(SWIPE, way)
        expect(shown).to_have_accessible_name(f"Specimen {name}")
    dialog.get_by_role("button", name="Previous").click()
    expect(shown).to_have_accessible_name("Specimen 1")
    box, view = shown.bounding_box(), page.viewport_size
    assert box
    assert view
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= view["width"]
    assert box["y"] + box["height"] <= view["height"]
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("link", name="Specimen 1 in full size")).to_be_focused()
    expect(page).to_have_url(f"{live_server.url}/assets/{listing.slug}")
    assert (visit.elsewhere, visit.faults, overflows(page)) == ([], [], False)


@pytest.fixture
def loops() -> Listing:
    """A listing with a sound of a minute that is really stored, and more on its page than fits a window."""
    listing = on_sale(archive(), title="Night Loops", slug="night-loops", description="Loops.\n\n" * 80)
    stored(
        PreviewFactory(
            listing=listing,
            kind="AudioPreview",
            content_type="audio/wav",
            details={"durationSeconds": 60, "format": "wav", "peaks": list(range(0, 101, 5))},
        ),
        sound("WAV", 60, rate=8_000),
    )
    return listing


def test_player_stays_in_view_while_its_sound_plays(window: Callable[..., Page], live_server: Any, loops: Listing) -> None:
    page = window("phone")
    visit = watched(page, live_server.url)
    page.goto(f"{live_server.url}/assets/{loops.slug}")
    player = page.get_by_role("group", name="Audio preview of Night Loops")
    position = player.get_by_role("slider", name="Position")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(player).not_to_be_in_viewport()
    player.scroll_into_view_if_needed()
    player.get_by_role("button", name="Play").focus()
    page.keyboard.press("Enter")
    expect(player.get_by_role("button", name="Pause")).to_be_focused()
    expect(player.get_by_text(re.compile(r"^0:[0-5][1-9] / 1:00$"))).to_be_visible()
    for end in ("document.body.scrollHeight", "0"):
        page.evaluate(f"scrollTo(0, {end})")
        expect(player).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator(".player.docked")).to_be_visible()
    assert violations(page) == []
    player.get_by_role("button", name="Pause").click()
    position.focus()
    page.keyboard.press("End")
    expect(position).to_have_attribute("aria-valuetext", "1:00 of 1:00")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(position).to_have_attribute("aria-valuetext", "0:00 of 1:00")
    player.get_by_role("button", name="Stop").click()
    expect(player).not_to_be_in_viewport()
    assert page.evaluate("document.querySelector('audio').paused")
    assert (visit.elsewhere, visit.faults, overflows(page)) == ([], [], False)


def test_sound_can_be_played_without_scripts(window: Callable[..., Page], live_server: Any, loops: Listing) -> None:
    page = window("phone", java_script=False)
    page.goto(f"{live_server.url}/assets/{loops.slug}")
    expect(page.locator("audio[controls]")).to_be_visible()
    expect(page.locator(".player-bar")).to_be_hidden()


def test_page_of_a_skill_with_a_file_tree_and_tracks_is_accessible_and_light(window: Callable[..., Page], live_server: Any) -> None:
    text = f"# Editor\n\nRun `{'x' * 90}`.\n\n```\n{'y' * 400}\n```\n\n| {'a | ' * 30}\n|{'-|' * 30}\n| {'wide | ' * 30}\n"
    skill = {"path": "SKILL.md", "name": "n" * 80, "description": "d" * 300, "text": text, "truncated": True}
    tracks = [{"path": f"{'t' * 80}/{number}.wav", "durationSeconds": 10.0 * number} for number in range(24)]
    technical = {"skill": skill, "members": tracks, "contentsByExtension": {"wav": 500}}
    listing = on_sale(base_price_minor=0, price_inr_minor=0)
    with_file(listing, technical=technical, entries=[[f"f{number % 9}/{number}-{'w' * 100}.wav", number] for number in range(500)])
    page = window("phone", scheme="dark")
    visit = watched(page, live_server.url)
    page.goto(f"{live_server.url}/assets/{listing.slug}")
    for summary in ("SKILL.md", "Files in the archive: 500", "f0/"):
        page.locator("summary", has_text=summary).first.click()
    expect(page.get_by_role("heading", name="Editor")).to_be_visible()
    expect(page.get_by_text(re.compile("^0-w+.wav"))).to_be_visible()
    assert violations(page) == []
    assert visit.weight <= MOST_BYTES
    assert (visit.elsewhere, visit.faults, overflows(page)) == ([], [], False)

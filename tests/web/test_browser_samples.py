"""What a listing shows of its reviewed file, in a browser: the type tester of a family, and animations."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from catalog.models import Category
from tests.screenshots.driving import MOST_BYTES, overflows, violations, watched
from tests.vendors.test_file_previews import LOADERS, SERIF, made_of, selling

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_tester_shows_each_style_with_every_control(window: Callable[..., Page], live_server: Any) -> None:
    listing = selling(SERIF, title="Aurora")
    made_of(listing)
    page = window("desktop")
    visit = watched(page, live_server.url)
    page.goto(f"{live_server.url}/assets/{listing.slug}")
    text = page.get_by_label("Your text in Aurora")
    text.scroll_into_view_if_needed()
    page.wait_for_function("document.fonts.check('20px style-0')")
    page.get_by_label("Style", exact=True).select_option(label="Instrument Serif Italic")
    page.get_by_label("Sample text").select_option(label="Western European")
    page.get_by_label("Alignment").select_option("center")
    page.get_by_label("Line height").fill("2")
    page.get_by_label("Letter spacing").fill("100")
    page.get_by_label("Text colour").fill("#aa0000")
    page.get_by_label("Background").fill("#ffffee")
    page.wait_for_function("document.fonts.check('20px style-1')")
    expect(text).to_have_value("Voix ambiguë au cœur, çà et là; größer, señor, Ærø, façade")
    shown = text.evaluate(
        "(each) => { const is = getComputedStyle(each); return [is.fontFamily, is.textAlign, is.color, is.backgroundColor] }"
    )
    assert shown[0].startswith("style-1")
    assert shown[1:] == ["center", "rgb(170, 0, 0)", "rgb(255, 255, 238)"]
    assert (violations(page), overflows(page), visit.faults) == ([], False, [])


@pytest.mark.parametrize("java_script", [True, False])
def test_file_previews_are_accessible_on_a_phone(window: Callable[..., Page], live_server: Any, *, java_script: bool) -> None:
    category = Category.objects.get_or_create(slug="motion", defaults={"name": "Motion"})[0]
    for listing in (selling(SERIF), selling(LOADERS, category=category)):
        made_of(listing)
        page = window("phone", scheme="dark", java_script=java_script)
        visit = watched(page, live_server.url)
        page.goto(f"{live_server.url}/assets/{listing.slug}", wait_until="networkidle")
        assert visit.weight <= MOST_BYTES
        for summary in page.locator("#tester summary:visible, .animations summary:visible").all():
            summary.click()
        assert not overflows(page)
        # axe waits for timers, which a window without scripts does not have.
        assert not java_script or violations(page) == []
        assert (visit.elsewhere, visit.faults) == ([], [])
        if not java_script and listing.category == category:
            expect(page.locator(".animations details img").first).to_be_visible()


def test_animation_plays_in_view_stops_on_demand_and_waits_where_less_motion_is_wanted(
    window: Callable[..., Page], live_server: Any
) -> None:
    listing = selling(LOADERS, category=Category.objects.get_or_create(slug="motion", defaults={"name": "Motion"})[0])
    preview = made_of(listing)[0]
    for motion in ("no-preference", "reduce"):
        page = window("desktop")
        page.emulate_media(reduced_motion=motion)
        page.goto(f"{live_server.url}/assets/{listing.slug}")
        picture, name = page.locator(".animations img").first, preview.details["name"]
        picture.scroll_into_view_if_needed()
        if motion == "no-preference":
            expect(picture).to_have_attribute("src", preview.url)
            page.get_by_role("button", name=f"Pause {name}").click()
        expect(picture).to_have_attribute("src", f"{preview.url}/poster")
        page.get_by_role("button", name=f"Play {name}").click()
        expect(picture).to_have_attribute("src", preview.url)

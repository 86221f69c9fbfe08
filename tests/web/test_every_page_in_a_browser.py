"""Every page in a real browser, at a desk in light and on a phone in dark: accessible, narrow enough, light, asking nobody else."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page

from tests.eager import EagerBackend
from tests.screenshots.driving import MOST_BYTES, SIZES, context, leave, overflows, violations, watched

from .world import PAGES, World, make_world, pages_of_the_admin

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What differs on a phone, and in the dark.
DIFFERENT = ("color-contrast", "target-size")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(EagerBackend, "on", False)
    yield make_world()
    connections.close_all()


def sign_in(window: BrowserContext, address: str, client: Client) -> None:
    """Give the window the session of someone who signed in."""
    if cookie := client.cookies.get(settings.SESSION_COOKIE_NAME):
        window.add_cookies([{"name": cookie.key, "value": cookie.value, "url": address}])


def faults_of(page: Page, address: str, path: str, *, axe: bool = True) -> list[str]:
    """Open a page and return what is wrong with it; with axe, also in the window of a phone and in the dark."""
    visit = watched(page, address)
    answer = page.goto(address + path)
    found = [] if answer is not None and answer.status == 200 else ["no page"]
    if visit.weight > MOST_BYTES:
        found.append(f"weighs {visit.weight} bytes")
    if overflows(page):
        found.append("is wider than the window")
    if axe:
        found += [*violations(page), *faults_on_a_phone(page)]
    found += [*visit.faults, *(f"asked {other}" for other in visit.elsewhere)]
    leave(page, visit)
    return found


def faults_on_a_phone(page: Page) -> list[str]:
    """Return what is wrong with the open page on a phone in the dark."""
    page.set_viewport_size(SIZES["phone"])
    page.emulate_media(color_scheme="dark")
    found = [*violations(page, DIFFERENT), *(["is wider than the window"] if overflows(page) else [])]
    page.set_viewport_size(SIZES["desktop"])
    page.emulate_media(color_scheme="light")
    return [f"on a phone in the dark: {fault}" for fault in found]


def test_every_page_passes_the_accessibility_checks(chromium: Browser, live_server: Any, world: World) -> None:
    wrong: dict[str, list[str]] = {}
    for who, paths in PAGES.items():
        window = context(chromium, "desktop", "light")
        sign_in(window, live_server.url, world.client(who))
        # A page more would cost as much as what it shows.
        page = window.new_page()
        for path in paths:
            if faults := faults_of(page, live_server.url, path.format_map(world.places)):
                wrong[f"{who} {path}"] = faults
        window.close()
    assert wrong == {}, "\n".join(f"{where}: {faults}" for where, faults in wrong.items())


def test_every_admin_page_is_light_and_fits_a_phone(chromium: Browser, live_server: Any, world: World) -> None:
    wrong: dict[str, list[str]] = {}
    window = context(chromium, "phone", "light")
    sign_in(window, live_server.url, world.client("admin"))
    page = window.new_page()
    for path in pages_of_the_admin():
        # All are made of the same parts, which axe sees on the pages above.
        if faults := faults_of(page, live_server.url, path, axe=False):
            wrong[path] = faults
    window.close()
    assert wrong == {}, "\n".join(f"{where}: {faults}" for where, faults in wrong.items())

"""Every page in a real browser, at a desk in light and on a phone in dark: accessible, narrow enough, light, asking nobody else."""

from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page

from developers.bounds import CREDENTIAL_NAME_CHARS
from developers.models import AccessToken, ApiKey, App, WebhookEndpoint
from marketplace.core.bounds import NAME_CHARS
from tests.screenshots.driving import MOST_BYTES, SIZES, context, leave, overflows, violations, watched

from .world import PAGES, World, make_world, pages_of_the_admin

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What differs on a phone, and in the dark.
DIFFERENT = ("color-contrast", "target-size")
# Elements of which something is out of sight without a way to scroll to it, and without an ellipsis that says so.
CUT = """() => [...document.querySelectorAll("main *")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 1)
    .filter((each) => getComputedStyle(each).overflowX === "hidden" && getComputedStyle(each).textOverflow !== "ellipsis")
    .map((each) => each.outerHTML.slice(0, 80))"""
# Each element in the one that it stands in.
PARTS = """() => {
    const kind = (each) => [each.localName, each.className, each.type, each.role].join(" ");
    return [...document.querySelectorAll("body *")].map((each) => `${kind(each.parentElement)} > ${kind(each)}`);
}"""


def world_of_long_names() -> World:
    """Return the shop, in which what developers name has names of the greatest length, without a space."""
    world = make_world()
    App.objects.update(name="W" * NAME_CHARS)
    ApiKey.objects.update(name="W" * CREDENTIAL_NAME_CHARS)
    AccessToken.objects.update(name="W" * CREDENTIAL_NAME_CHARS)
    WebhookEndpoint.objects.update(url=f"https://app.example/{'w' * 180}", description="W" * NAME_CHARS)
    return world


def sign_in(window: BrowserContext, address: str, client: Client) -> None:
    if cookie := client.cookies.get(settings.SESSION_COOKIE_NAME):
        window.add_cookies([{"name": cookie.key, "value": cookie.value, "url": address}])


def cut_off(page: Page) -> list[str]:
    return [*page.evaluate(CUT), *(["is wider than the window"] if overflows(page) else [])]


def faults_of(page: Page, address: str, path: str, seen: set[str] | None = None) -> list[str]:
    """Open a page and return what is wrong with it; where something was not seen on the pages before, also with axe, and in the other way."""
    visit = watched(page, address)
    answer = page.goto(address + path)
    found = [] if answer is not None and answer.status == 200 else ["no page"]
    if visit.weight > MOST_BYTES:
        found.append(f"weighs {visit.weight} bytes")
    found += cut_off(page)
    if seen is not None:
        new = set(page.evaluate(PARTS)) - seen
        seen |= new
        found += [*(violations(page) if new else []), *faults_on_a_phone(page, axe=bool(new))]
    found += [*visit.faults, *(f"asked {other}" for other in visit.elsewhere)]
    leave(page, visit)
    return found


def faults_on_a_phone(page: Page, *, axe: bool) -> list[str]:
    """Return what is wrong with the open page on a phone in the dark."""
    page.set_viewport_size(SIZES["phone"])
    page.emulate_media(color_scheme="dark")
    found = [*(violations(page, DIFFERENT) if axe else []), *cut_off(page)]
    page.set_viewport_size(SIZES["desktop"])
    page.emulate_media(color_scheme="light")
    return [f"on a phone in the dark: {fault}" for fault in found]


def test_every_page_is_accessible_and_light_and_fits(chromium: Browser, live_server: Any, jobs_wait: None) -> None:
    world = world_of_long_names()
    wrong: dict[str, list[str]] = {}
    seen = set[str]()
    for who, paths in PAGES.items():
        window = context(chromium, "desktop", "light")
        sign_in(window, live_server.url, world.client(who))
        # A page more would cost as much as what it shows.
        page = window.new_page()
        for path in paths:
            if faults := faults_of(page, live_server.url, path.format_map(world.places), seen):
                wrong[f"{who} {path}"] = faults
        window.close()
    # All the others of the admin are made of the same parts.
    window = context(chromium, "phone", "light")
    sign_in(window, live_server.url, world.client("admin"))
    page = window.new_page()
    for path in pages_of_the_admin():
        if faults := faults_of(page, live_server.url, path):
            wrong[path] = faults
    window.close()
    connections.close_all()
    assert wrong == {}, "\n".join(f"{where}: {faults}" for where, faults in wrong.items())

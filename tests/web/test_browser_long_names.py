"""Names of the greatest length, without a space, break no page of a developer."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from developers.bounds import CREDENTIAL_NAME_CHARS
from developers.models import AccessToken, ApiKey, App, WebhookEndpoint
from marketplace.core.bounds import NAME_CHARS
from tests.eager import EagerBackend
from tests.screenshots.driving import overflows

from .world import PAGES, World, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DEVELOPER_PAGES = [
    path
    for path in PAGES["member"]
    if path.startswith(("/dashboard/apps", "/dashboard/connections", "/dashboard/spending", "/dashboard/tokens", "/oauth"))
]
# Elements of which something is out of sight without a way to scroll to it.
CUT = """() => [...document.querySelectorAll("main *")]
    .filter((each) => getComputedStyle(each).overflowX === "hidden" && each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 1)
    .map((each) => each.outerHTML.slice(0, 80))"""

# Elements that reach over the right edge of the window.
WIDE = """() => [...document.querySelectorAll("main *")]
    .filter((each) => !each.closest("nav, .scroll") && each.getBoundingClientRect().right > innerWidth + 1)
    .map((each) => each.outerHTML.slice(0, 80))"""


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """The shop, with jobs that wait."""
    monkeypatch.setattr(EagerBackend, "on", False)
    return make_world()


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_long_names_fit_on_the_pages_of_a_developer(window: Callable[..., Page], live_server: Any, world: World, size: str) -> None:
    App.objects.update(name="W" * NAME_CHARS)
    ApiKey.objects.update(name="W" * CREDENTIAL_NAME_CHARS)
    AccessToken.objects.update(name="W" * CREDENTIAL_NAME_CHARS)
    WebhookEndpoint.objects.update(url=f"https://app.example/{'w' * 180}", description="W" * NAME_CHARS)
    page = window(size, world.people["member"])
    broken: dict[str, list[str]] = {}
    for path in DEVELOPER_PAGES:
        response = page.goto(live_server.url + path.format_map(world.places))
        assert response is not None
        assert response.status == 200, path
        if wide := page.evaluate(CUT) + ([page.evaluate(WIDE)] if overflows(page) else []):
            broken[path] = wide
    assert broken == {}

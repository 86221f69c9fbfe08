"""A developer in a real browser: from the sign-up to a call in the console and its code; without a script; by keyboard only."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from developers.models import ApiKey, FirstPartyToken
from tests.factories import PASSWORD as FACTORY_PASSWORD
from tests.factories import AppFactory, UserFactory
from tests.screenshots.driving import overflows, still, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Opens = Callable[..., Page]


def sound(page: Page) -> bool:
    """Tell whether the page fits and axe-core finds nothing."""
    assert violations(page) == []
    return not overflows(page)


def test_key_is_revoked_without_leaving_the_page(window: Opens, live_server: Any) -> None:
    app = AppFactory()
    for number, name in enumerate(("laptop", "server")):
        ApiKey.objects.create(app=app, name=name, digest=str(number) * 64, last_four="abcd", scope=app.granted_scopes)
    page = window("desktop", user=app.developer)
    page.goto(live_server.url + reverse("app-detail", args=[app.pk]))
    page.evaluate("window.same = true")
    for name in ("Revoke laptop", "Revoke server"):
        page.get_by_role("link", name=name).click()
        page.locator(".in-place").get_by_role("link", name="Cancel").click()
        page.locator("#confirm").wait_for(state="detached")
        # Whoever works by keyboard goes on where they were, not at the first key of the page.
        assert page.evaluate("document.activeElement.textContent") == name
    page.get_by_role("link", name="Revoke laptop").click()
    page.locator(".in-place #confirm").wait_for()
    assert sound(page)
    page.get_by_role("button", name="Revoke key").click()
    page.locator(".notes").get_by_text("is revoked").wait_for()
    assert page.evaluate("window.same && document.activeElement.className") == "notes"
    assert [key.name for key in ApiKey.objects.all() if key.is_active] == ["server"]
    assert page.get_by_role("link", name="Revoke laptop").count() == 0


def test_search_that_the_server_answered_is_not_continued_in_what_it_found(window: Opens, live_server: Any) -> None:
    page = window("desktop", user=UserFactory())
    page.goto(f"{live_server.url}/dashboard/console?q=webhooks")
    page.get_by_label("Find a call").fill("wallet/spend")
    assert page.get_by_text("No call matches.").is_hidden()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="/wallet/spend").wait_for()


def test_purchase_is_asked_about_and_the_keyboard_is_enough(window: Opens, live_server: Any) -> None:
    app = AppFactory()
    page = window("desktop", user=app.developer)
    page.goto(f"{live_server.url}/dashboard/console")
    page.get_by_label("Find a call").focus()
    page.keyboard.type("wallet/spend")
    # Find, then the one call that is left.
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    # Once it has loaded: it asks by a script.
    page.wait_for_url("**/dashboard/console/buyAsset*")
    page.get_by_label("assetId").focus()
    page.keyboard.type("nothing-like-it")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Cancel"
    assert sound(page)
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")
    page.locator("#run:not([aria-disabled])").wait_for()
    assert page.locator("#answer").is_hidden()
    assert not FirstPartyToken.objects.exists()
    page.get_by_role("button", name="Run").focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.locator("#answer-words").get_by_text("Not found").wait_for()
    assert page.locator("#answer-status").inner_text() == "404"
    assert page.evaluate("document.activeElement.id") == "answer"


def test_large_numbers_are_sent_and_shown_digit_by_digit(window: Opens, live_server: Any) -> None:
    page = window("desktop", user=UserFactory())
    sent: list[str | None] = []
    answered = '{"count":9007199254740993,"rate":1.10,"text":"a\\"{,}[: b","none":{},"list":[[],[1,-2e5]]}'

    def answer(route: Any) -> None:
        sent.append(route.request.post_data)
        route.fulfill(status=200, content_type="application/json", body=answered)

    page.route("**/api/v1/leaked-credentials", answer)
    page.goto(f"{live_server.url}/dashboard/console/reportLeakedCredentials")
    page.get_by_label("credentials").fill("[12345678901234567890]")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Make the call").click()
    page.locator("#answer-status", has_text="200").wait_for()
    shown = page.locator("#answer-body").inner_text()
    assert '\n  "count": 9007199254740993,\n  "rate": 1.10,\n  "text": "a\\"{,}[: b",\n  "none": {},\n' in shown
    assert json.loads(shown) == json.loads(answered)
    assert sent == ['{"credentials": [12345678901234567890]}']


def test_key_is_created_once_when_the_button_is_pressed_repeatedly(window: Opens, live_server: Any) -> None:
    app = AppFactory()
    page = window("desktop", user=app.developer)
    page.goto(live_server.url + reverse("key-create", args=[app.pk]))
    held: list[Any] = []
    page.route("**/keys/new", lambda route: held.append(route))  # noqa: PLW0108 - playwright cannot wrap a built-in method
    # After some seconds one may press it again.
    still(page)
    page.get_by_label("Name").fill("laptop")
    page.get_by_label("Your password").fill(FACTORY_PASSWORD)
    with page.expect_request("**/keys/new"):
        page.keyboard.press("Enter")
    for _ in range(2):
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
    assert len(held) == 1
    held[0].continue_()
    page.locator("#secret").wait_for()
    assert ApiKey.objects.count() == 1

"""A person with a phone: sign up, confirm, apply, in a real browser."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, Request

from developers.models import DeveloperApplication, ScopeReview
from developers.services.applications import approve_application
from developers.services.scopes import ScopeDecision, decide_scopes
from marketplace.accounts.models import User
from marketplace.core.scopes import SCOPE_LABELS, Scope
from tests.factories import UserFactory
from tests.screenshots.driving import sign_up

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "a long enough phrase"


def _fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


@pytest.mark.parametrize("java_script", [True, False])
def test_phone_signs_up_confirms_and_applies(window: Callable[..., Page], live_server: Any, java_script: bool) -> None:  # noqa: FBT001 - a parameter of the test
    page = window("phone", java_script=java_script)
    requests: list[Request] = []
    failures: list[str] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 - playwright cannot wrap a built-in method
    page.on("response", lambda response: failures.append(response.url) if response.status >= 400 else None)
    # A breach of the pages' own content policy is told on the console.
    page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: failures.append(str(error)))

    page.goto(live_server.url)
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("Email").fill("asha@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("heading", name="Check your mail").wait_for()

    found = re.search(r"http://\S+", str(mail.outbox[0].body))
    assert found
    page.goto(found[0])
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("heading", name="Hello, asha").wait_for()
    assert _fits(page)

    page.get_by_role("link", name="Apply").click()
    page.get_by_label("What are you building?").fill("A font picker")
    page.get_by_label("Why does it need the API?").fill("It searches the catalog")
    page.get_by_role("button", name="Send application").click()
    page.get_by_text("with our reviewers").wait_for()
    assert _fits(page)

    assert DeveloperApplication.objects.get().what == "A font picker"
    assert failures == []
    assert {request.url for request in requests if not request.url.startswith(live_server.url)} == set()


def test_keyboard_reaches_the_form_and_shows_where_it_is(window: Callable[..., Page], live_server: Any) -> None:
    page = window("phone")
    page.goto(f"{live_server.url}/account/login/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "login"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_reason_of_a_scope_appears_with_its_box_without_a_script(
    window: Callable[..., Page], live_server: Any, browse: Callable[..., Client], developer: User
) -> None:
    page = window("phone", java_script=False)
    session = browse(developer).cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page.goto(live_server.url + reverse("app-create"))
    reason = page.locator("[name=reason_catalog_read]")
    assert not reason.is_visible()
    page.get_by_label("Read the AI manifests").check()
    reason.fill("To read manifests")
    page.get_by_label("Name").fill("Finder")
    page.get_by_label("Purpose").fill("Finds fonts")
    page.get_by_role("button", name="Send for review").click()
    page.get_by_role("heading", name="Finder").wait_for()
    assert page.get_by_text("Waiting").is_visible()


def test_developer_goes_from_sign_up_to_the_first_call(window: Callable[..., Page], live_server: Any) -> None:
    page = window("phone")
    email = "asha@example.com"
    sign_up(page, live_server.url, email, PASSWORD)
    page.get_by_role("link", name="Apply").click()
    page.get_by_label("What are you building?").fill("A font picker")
    page.get_by_label("Why does it need the API?").fill("It reads the library")
    page.get_by_role("button", name="Send application").click()
    page.get_by_text("with our reviewers").wait_for()
    reviewer = UserFactory()
    approve_application(application=DeveloperApplication.objects.get(), reason="A real product.", actor=reviewer)

    page.goto(f"{live_server.url}{reverse('app-create')}")
    page.get_by_label("Name").fill("Picker")
    page.get_by_label("Purpose").fill("Picks fonts")
    for scope, name in ((Scope.LIBRARY_READ, "reason_library_read"), (Scope.WALLET_SPEND, "reason_wallet_spend")):
        page.get_by_label(SCOPE_LABELS[scope]).check()
        page.locator(f"[name={name}]").fill("It needs this.")
    page.get_by_role("button", name="Send for review").click()
    page.get_by_role("heading", name="Picker").wait_for()
    decisions = {Scope.LIBRARY_READ: ScopeDecision(granted=True), Scope.WALLET_SPEND: ScopeDecision(granted=False, note="Not yet.")}
    decide_scopes(review=ScopeReview.objects.get(), decisions=decisions, note="", actor=reviewer)

    page.reload()
    page.get_by_text("Not yet.").wait_for()
    page.locator('a[href*="/keys/new"]').first.click()
    page.get_by_label("Name").fill("laptop")
    page.locator("main form button[type=submit]").click()
    key = page.locator("#secret").inner_text().strip()
    assert _fits(page)

    asked = page.request.get(f"{live_server.url}/api/v1/library", headers={"X-Api-Key": key})
    assert (asked.status, asked.json()["ownedCount"]) == (200, 0)
    refused = page.request.post(f"{live_server.url}/api/v1/wallet/spend", headers={"X-Api-Key": key}, data={"assetId": "x"})
    assert (refused.status, refused.json()["requiredScope"]) == (403, "wallet:spend")

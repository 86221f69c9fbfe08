"""A person with a phone: sign up, confirm, apply, in a real browser."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page

from marketplace.accounts.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "a long enough phrase"


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
    page.get_by_role("textbox", name="Name").fill("Finder")
    page.get_by_label("Purpose").fill("Finds fonts")
    page.get_by_role("button", name="Send for review").click()
    page.get_by_role("heading", name="Finder").wait_for()
    assert page.get_by_text("Waiting").is_visible()

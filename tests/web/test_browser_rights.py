"""Asking what a licence permits in a real browser: with the keyboard alone, with scripts and without, on a phone in the dark and at a desk."""

from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, expect

from tests.keyboard import fill, follow
from tests.screenshots.driving import Scheme, context, overflows, violations
from tests.shop import archive, on_sale

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(("size", "scheme", "java_script"), [("phone", "dark", False), ("desktop", "light", True)])
def test_rights_are_asked_with_the_keyboard_and_lead_to_the_terms(
    chromium: Browser,
    live_server: Any,
    size: str,
    scheme: Scheme,
    java_script: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    on_sale(archive(), title="Halden Grotesk", slug="halden-grotesk")
    window = context(chromium, size, scheme, java_script=java_script)
    page = window.new_page()
    page.goto(f"{live_server.url}/assets/halden-grotesk")
    page.get_by_label("May I use this for").select_option("print_run")
    fill(page, "quantity", "5000")
    follow(page, "Check the licences")
    expect(page.get_by_text("With the Commercial licence, for")).to_be_visible()
    seen = [page.url]
    page.get_by_role("link", name="Terms, version 1").nth(1).click()
    expect(page.get_by_role("heading", name="Commercial licence, version 1")).to_be_visible()
    for address in (*seen, page.url):
        page.goto(address)
        assert not overflows(page)
        if java_script:
            assert violations(page) == []
    window.close()
    connections.close_all()

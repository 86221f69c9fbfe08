"""A vendor's sales in a real browser: figures by keyboard and by touch without a script."""

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from marketplace.accounts.models import User
from tests.shop import bought, funded, on_sale
from tests.wallet.payees import payee
from wallet.services.refunds import refund_order

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def vendor() -> User:
    profile = payee()
    listing = on_sale(store=profile.store, title="Halden Grotesk")
    for _ in range(3):
        bought(listing)
    refund_order(order=bought(listing), reason="test", actor=None)
    bought(listing, funded(usd=1_000), currency="USD")
    return profile.user


def test_figures_are_read_by_keyboard_and_by_touch_without_a_script(window: Callable[..., Page], live_server: Any, vendor: User) -> None:
    page = window("phone", vendor, java_script=False)
    page.goto(live_server.url + reverse("sales"))
    tip = page.locator("#sales-28 + label .chart-tip")
    opacity: Callable[[], str] = lambda: str(tip.evaluate("element => getComputedStyle(element).opacity"))  # noqa: E731 - short, and read twice
    assert opacity() == "0"
    page.locator("#sales-29").focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.id") == "sales-28"
    assert opacity() == "1"
    page.keyboard.press("ArrowRight")
    assert opacity() == "0"
    last = " ".join(page.locator("#sales-29 + label").inner_text().split())
    assert "sold: 5" in last
    assert "refunded: \N{MINUS SIGN}1" in last
    # One stop for all points of a chart: what comes next is its table.
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    assert page.locator(".chart-table").first.is_visible()
    page.locator("#sales-28 + label").click()
    assert opacity() == "1"

"""Money in a real browser: from an empty wallet to an invoice."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core import mail as outbox
from playwright.sync_api import Page

from tests.factories import UserFactory
from tests.screenshots.driving import overflows, violations
from tests.shop import on_sale
from tests.wallet.invoice_cases import issue, operator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def look(page: Page) -> None:
    """Check what the test of every page does not see in this state."""
    page.wait_for_load_state("networkidle")
    assert not overflows(page), page.url
    assert violations(page) == [], page.url


def test_empty_wallet_is_filled_at_the_checkout_and_the_purchase_has_an_invoice(window: Callable[..., Page], live_server: Any) -> None:
    operator()
    listing, user = on_sale(title="Halden Grotesk", tax_rate_bp=1800), UserFactory()
    page = window("phone", user, scheme="dark")
    page.goto(f"{live_server.url}/assets/{listing.slug}")
    page.get_by_role("button", name="Continue to buy").click()
    page.get_by_text("balance is too low").wait_for()
    look(page)
    page.get_by_role("button", name="Add").click()
    page.get_by_role("heading", name="Test payment").wait_for()
    page.get_by_label("The payment succeeds", exact=True).check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Pay").click()
    page.get_by_text("is yours").first.wait_for()
    look(page)
    issue()
    page.reload()
    with page.expect_download() as download:
        page.get_by_role("link", name="nvoice").click()
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF")
    look(page)
    assert any("Halden Grotesk" in str(message.body) for message in outbox.outbox if message.to == [user.email])

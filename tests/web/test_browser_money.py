"""Money in and out in a real browser: from an empty wallet to an invoice, from a bank account to a payout, and back to a buyer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core import mail as outbox
from django.urls import reverse
from playwright.sync_api import Page

from marketplace.accounts.models import User
from tests.admin.pages import address
from tests.factories import PASSWORD, UserFactory
from tests.screenshots.driving import overflows, violations
from tests.shop import archive, bought, on_sale
from tests.vendors.cases import make_vendor
from tests.wallet.invoice_cases import issue, operator
from tests.wallet.payees import IFSC, NUMBER, end_waiting_time
from tests.wallet.refund_request_cases import downloaded_order
from vendors.models import VendorProfile
from wallet.models import PayoutBatch, RefundRequest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Window = Callable[..., Page]


def look(page: Page) -> None:
    """Check what the test of every page does not see in this state."""
    page.wait_for_load_state("networkidle")
    assert not overflows(page), page.url
    assert violations(page) == [], page.url


def downloaded(page: Page, link: str) -> bytes:
    """Return the file behind a link of the page."""
    with page.expect_download() as download:
        page.get_by_role("link", name=link).click()
    return Path(download.value.path()).read_bytes()


def test_empty_wallet_is_filled_at_the_checkout_and_the_purchase_has_an_invoice(window: Window, live_server: Any) -> None:
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
    assert downloaded(page, "nvoice").startswith(b"%PDF")
    look(page)
    assert any("Halden Grotesk" in str(message.body) for message in outbox.outbox if message.to == [user.email])


def test_vendor_enters_a_bank_account_is_paid_and_gets_a_mail(window: Window, live_server: Any) -> None:
    profile = make_vendor()
    bought(on_sale(store=profile.store))
    page = window("desktop", profile.user)
    page.goto(live_server.url + reverse("payout-details", args=["INR"]))
    page.get_by_label("Account holder").fill("Asha Rao")
    page.get_by_label("Account number").fill(NUMBER)
    page.get_by_label("IFSC").fill("SBIN0")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("IFSC").first.wait_for()
    look(page)
    page.get_by_label("IFSC").fill(IFSC)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**" + reverse("payouts"))
    look(page)
    end_waiting_time(VendorProfile.objects.get(pk=profile.pk))
    outbox.outbox.clear()
    _pay_everybody(window("desktop", _staff()), live_server.url)
    page.reload()
    look(page)
    assert [message.to for message in outbox.outbox] == [[profile.user.email]]
    assert NUMBER not in str(outbox.outbox[0].body)


def _staff() -> User:
    staff: User = UserFactory(is_staff=True, is_superuser=True)
    return staff


def _pay_everybody(page: Page, base_url: str) -> None:
    """Prepare a batch, export it, download its file and record it as paid."""
    page.goto(base_url + reverse("admin:wallet_payoutbatch_prepare"))
    page.get_by_label("Run").fill("2026-11")
    page.get_by_label("Currency", exact=True).select_option("INR")
    page.get_by_role("button", name="Continue").or_(page.get_by_role("button", name="Show")).first.click()
    page.get_by_role("button", name="Prepare").wait_for()
    look(page)
    page.get_by_role("button", name="Prepare").click()
    page.wait_for_url("**/change/")
    batch = PayoutBatch.objects.get()
    page.goto(base_url + address(PayoutBatch, "export", batch.pk))
    look(page)
    page.get_by_role("button", name="Export").click()
    page.wait_for_url("**/change/")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert NUMBER in Path(download.value.path()).read_text()
    page.goto(base_url + address(PayoutBatch, "pay", batch.pk))
    page.get_by_role("button", name="Record as paid").click()
    page.wait_for_url("**/change/")


def test_staff_refund_what_the_vendor_declined_once_the_buyer_insists(window: Window, live_server: Any) -> None:
    operator()
    order = downloaded_order(bought(on_sale(archive(), store=make_vendor().store, title="Halden Grotesk", tax_rate_bp=1800)))
    outbox.outbox.clear()
    page = window("phone", order.buyer, scheme="dark")
    page.goto(live_server.url + reverse("order-page", args=[order.pk]))
    page.get_by_role("link", name="Ask for a refund").click()
    page.get_by_label("It does not open or does not work").check()
    page.get_by_label("Details").fill("The archive is empty on my computer.")
    page.get_by_role("button", name="Ask for a refund").click()
    page.get_by_text("Without an answer by then").wait_for()
    look(page)
    studio = window("phone", order.listing.store.owner, scheme="dark")
    studio.goto(live_server.url + reverse("vendor-refund-requests"))
    studio.get_by_role("link", name="Halden Grotesk").first.click()
    studio.get_by_label("Why do you decline?").fill("It opens in every program that I know.")
    studio.get_by_role("button", name="Decline").click()
    studio.get_by_text("Your answer").wait_for()
    look(studio)
    page.reload()
    page.get_by_role("link", name="Ask our staff").click()
    page.get_by_label("Why should it be refunded?").fill("I sent a picture of the error.")
    page.get_by_role("button", name="Ask our staff").click()
    page.get_by_text("Our staff will decide").first.wait_for()
    look(page)
    admin = window("phone", _staff(), scheme="dark")
    admin.goto(live_server.url + address(RefundRequest, "grant", RefundRequest.objects.get().pk))
    admin.get_by_label("Reason").fill("The picture shows the error.")
    admin.get_by_role("button", name="Refund").click()
    admin.get_by_text("The order was refunded").wait_for()
    look(admin)
    issue()
    page.reload()
    look(page)
    assert downloaded(page, "Credit note").startswith(b"%PDF")
    assert _told(order.buyer) == ["asked", "declined", "in review", "refunded"]


def _told(buyer: User) -> list[str]:
    """Return what the buyer's mails were about, oldest first."""
    steps = {"was refunded": "refunded", "declined": "declined", "staff will decide": "in review", "Your request": "asked"}
    subjects = [str(message.subject) for message in outbox.outbox if message.to == [buyer.email]]
    return [next((step for word, step in steps.items() if word in subject), subject) for subject in subjects]

"""Money in and out in a real browser: from an empty wallet to an invoice, from a bank account to a payout, and back to a buyer.

Pictures of every step are written to the folder that `TEST_PICTURES` names.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core import mail as outbox
from django.urls import reverse
from playwright.sync_api import Page

from marketplace.accounts.models import User
from tests.admin.pages import address
from tests.factories import UserFactory
from tests.screenshots.driving import Scheme, overflows, violations
from tests.shop import archive, bought, on_sale
from tests.vendors.cases import make_vendor
from tests.wallet.invoice_cases import issue, operator
from tests.wallet.payees import IFSC, NUMBER, end_waiting_time
from tests.wallet.refund_request_cases import downloaded_order
from vendors.models import VendorProfile
from wallet.models import Order, PayoutBatch, RefundRequest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"
WAYS = pytest.mark.parametrize(("size", "scheme"), [("phone", "dark"), ("desktop", "light")])
Window = Callable[..., Page]


@pytest.fixture
def looked_at(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Check a page's width and what axe finds, and keep its picture."""
    folder = os.environ.get("TEST_PICTURES")

    def look(page: Page, name: str) -> None:
        page.wait_for_load_state("networkidle")
        if folder:
            ways = request.node.callspec.params
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=Path(folder) / f"{name}-{ways['size']}-{ways['scheme']}.png", full_page=True)
        assert not overflows(page), name
        assert violations(page) == [], name

    return look


@WAYS
def test_empty_wallet_is_filled_at_the_checkout_and_the_purchase_has_an_invoice(
    window: Window, live_server: Any, looked_at: Callable[[Page, str], None], size: str, scheme: Scheme
) -> None:
    operator()
    listing, user = on_sale(title="Halden Grotesk", tax_rate_bp=1800), UserFactory(email="asha@example.com", name="Asha Rao")
    page = window(size, user, scheme=scheme)
    page.goto(f"{live_server.url}/assets/{listing.slug}")
    page.get_by_role("button", name="Continue to buy").click()
    page.get_by_text("balance is too low").wait_for()
    looked_at(page, "01-checkout-without-credit")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("heading", name="Test payment").wait_for()
    looked_at(page, "02-test-provider")
    page.get_by_label("The payment succeeds", exact=True).check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Pay").wait_for()
    looked_at(page, "03-back-at-the-checkout")
    page.get_by_role("button", name="Pay").click()
    page.get_by_text("is yours").first.wait_for()
    looked_at(page, "04-bought")
    issue()
    page.reload()
    with page.expect_download() as download:
        page.get_by_role("link", name="PDF").or_(page.get_by_role("link", name="nvoice")).first.click()
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF")
    looked_at(page, "05-order-with-invoice")
    for name, path in (("06-wallet", reverse("wallet-page")), ("07-order-history", reverse("library-page"))):
        page.goto(live_server.url + path)
        looked_at(page, name)
    page.goto(live_server.url + reverse("top-up", args=[user.top_ups.get().pk]))
    looked_at(page, "08-top-up")
    assert any("Halden Grotesk" in str(message.body) for message in outbox.outbox if message.to == [user.email])


@WAYS
def test_vendor_enters_a_bank_account_is_paid_and_gets_a_mail(
    window: Window, live_server: Any, looked_at: Callable[[Page, str], None], size: str, scheme: Scheme
) -> None:
    profile = make_vendor()
    bought(on_sale(store=profile.store))
    page = window(size, profile.user, scheme=scheme)
    page.goto(live_server.url + reverse("payouts"))
    looked_at(page, "10-payouts-without-an-account")
    page.goto(live_server.url + reverse("payout-details", args=["INR"]))
    page.get_by_label("Account holder").fill("Asha Rao")
    page.get_by_label("Account number").fill(NUMBER)
    page.get_by_label("IFSC").fill("SBIN0")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Save").click()
    page.get_by_text("IFSC").first.wait_for()
    looked_at(page, "11-bank-account-with-a-mistake")
    page.get_by_label("IFSC").fill(IFSC)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**" + reverse("payouts"))
    looked_at(page, "12-payouts-with-an-account")
    end_waiting_time(VendorProfile.objects.get(pk=profile.pk))
    outbox.outbox.clear()
    _pay_everybody(window(size, _staff(), scheme=scheme), live_server.url, looked_at)
    page.goto(live_server.url + reverse("payouts"))
    looked_at(page, "18-payouts-paid")
    assert [message.to for message in outbox.outbox] == [[profile.user.email]]
    assert NUMBER not in str(outbox.outbox[0].body)


def _staff() -> User:
    staff: User = UserFactory(email="staff@example.com", is_staff=True, is_superuser=True)
    return staff


def _pay_everybody(page: Page, base_url: str, looked_at: Callable[[Page, str], None]) -> None:
    """Prepare a batch, export it, download its file and record it as paid."""
    page.goto(base_url + reverse("admin:wallet_payoutbatch_prepare"))
    page.get_by_label("Run").fill("2026-11")
    page.get_by_label("Currency", exact=True).select_option("INR")
    looked_at(page, "13-prepare")
    page.get_by_role("button", name="Continue").or_(page.get_by_role("button", name="Show")).first.click()
    page.get_by_role("button", name="Prepare").wait_for()
    looked_at(page, "14-prepare-confirm")
    page.get_by_role("button", name="Prepare").click()
    page.wait_for_url("**/change/")
    looked_at(page, "15-batch-prepared")
    batch = PayoutBatch.objects.get()
    page.goto(base_url + address(PayoutBatch, "export", batch.pk))
    looked_at(page, "16-export")
    page.get_by_role("button", name="Export").click()
    page.wait_for_url("**/change/")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert NUMBER in Path(download.value.path()).read_text()
    looked_at(page, "17-batch-exported")
    page.goto(base_url + address(PayoutBatch, "pay", batch.pk))
    page.get_by_role("button", name="Record as paid").click()
    page.wait_for_url("**/change/")


@WAYS
def test_buyer_who_has_not_downloaded_is_refunded_at_once(
    window: Window, live_server: Any, looked_at: Callable[[Page, str], None], size: str, scheme: Scheme
) -> None:
    operator()
    order = _sold()
    page = window(size, order.buyer, scheme=scheme)
    page.goto(live_server.url + reverse("library-item", args=[order.listing.slug]))
    looked_at(page, "20-library-item")
    page.get_by_role("link", name="refund").first.click()
    page.wait_for_url("**" + reverse("order-page", args=[order.pk]))
    looked_at(page, "21-order")
    _ask(page, looked_at, "22-ask", "I bought it by mistake")
    page.get_by_text("The price was returned to your wallet").wait_for()
    issue()
    page.reload()
    looked_at(page, "23-refunded-at-once")
    _credit_note(page)
    assert _told(order.buyer) == ["refunded"]


@WAYS
def test_vendor_agrees_to_the_refund_of_what_was_downloaded(
    window: Window, live_server: Any, looked_at: Callable[[Page, str], None], size: str, scheme: Scheme
) -> None:
    operator()
    order = downloaded_order(_sold())
    page, studio = _asked(window, live_server.url, looked_at, order, size, scheme)
    studio.get_by_role("button", name="Refund").click()
    studio.get_by_text("Refunded").first.wait_for()
    looked_at(studio, "33-vendor-agreed")
    issue()
    page.reload()
    looked_at(page, "34-refunded-by-the-vendor")
    _credit_note(page)
    assert _told(order.buyer) == ["asked", "refunded"]


@WAYS
def test_staff_decide_after_the_vendor_declined_and_the_buyer_insists(
    window: Window, live_server: Any, looked_at: Callable[[Page, str], None], size: str, scheme: Scheme
) -> None:
    operator()
    order = downloaded_order(_sold())
    page, studio = _asked(window, live_server.url, looked_at, order, size, scheme)
    studio.get_by_label("Why do you decline?").fill("It opens in every program that I know.")
    studio.get_by_role("button", name="Decline").click()
    studio.get_by_text("Your answer").wait_for()
    looked_at(studio, "43-vendor-declined")
    page.reload()
    looked_at(page, "44-declined")
    page.get_by_role("link", name="Ask our staff").click()
    page.get_by_label("Why should it be refunded?").fill("I sent a picture of the error.")
    looked_at(page, "45-escalate")
    page.get_by_role("button", name="Ask our staff").click()
    page.get_by_text("Our staff will decide").first.wait_for()
    looked_at(page, "46-in-review")
    admin = window(size, _staff(), scheme=scheme)
    _grant(admin, live_server.url, looked_at, RefundRequest.objects.get())
    issue()
    page.reload()
    looked_at(page, "49-refunded-by-staff")
    _credit_note(page)
    assert _told(order.buyer) == ["asked", "declined", "in review", "refunded"]


def _sold() -> Order:
    """Return the order of an asset with a file, whose buyer gets mail."""
    order = bought(on_sale(archive(), store=make_vendor().store, title="Halden Grotesk", tax_rate_bp=1800))
    outbox.outbox.clear()
    return order


def _ask(page: Page, looked_at: Callable[[Page, str], None], name: str, reason: str) -> None:
    """Ask for a refund from the order's page."""
    page.get_by_role("link", name="Ask for a refund").click()
    page.get_by_role("button", name="Ask for a refund").wait_for()
    looked_at(page, name)
    page.get_by_label(reason).check()
    page.get_by_label("Details").fill("The archive is empty on my computer.")
    page.get_by_role("button", name="Ask for a refund").click()


def _asked(
    window: Window, base_url: str, looked_at: Callable[[Page, str], None], order: Order, size: str, scheme: Scheme
) -> tuple[Page, Page]:
    """Ask as the buyer; return the buyer's page, and the vendor's with the request."""
    page = window(size, order.buyer, scheme=scheme)
    page.goto(base_url + reverse("order-page", args=[order.pk]))
    _ask(page, looked_at, "30-ask", "It does not open or does not work")
    page.get_by_text("Without an answer by then").wait_for()
    looked_at(page, "31-waiting")
    studio = window(size, order.listing.store.owner, scheme=scheme)
    studio.goto(base_url + reverse("refund-cases"))
    looked_at(studio, "31-vendors-requests")
    studio.get_by_role("link", name="Halden Grotesk").first.click()
    studio.get_by_role("button", name="Decline").wait_for()
    looked_at(studio, "32-vendors-request")
    return page, studio


def _grant(page: Page, base_url: str, looked_at: Callable[[Page, str], None], made: RefundRequest) -> None:
    """Refund as staff, from the queue."""
    page.goto(base_url + reverse("admin:wallet_refundrequest_changelist"))
    page.get_by_text("Halden Grotesk").first.wait_for()
    looked_at(page, "47-queue")
    page.goto(base_url + reverse("admin:wallet_refundrequest_change", args=[made.pk]))
    looked_at(page, "47-request")
    page.goto(base_url + address(RefundRequest, "grant", made.pk))
    page.get_by_label("Reason").fill("The picture shows the error.")
    looked_at(page, "48-grant")
    page.get_by_role("button", name="Refund").click()
    page.get_by_text("The order was refunded").wait_for()
    looked_at(page, "48-granted")


def _credit_note(page: Page) -> None:
    """Download the credit note that the order's page links to."""
    with page.expect_download() as download:
        page.get_by_role("link", name="Credit note").click()
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF")


def _told(buyer: User) -> list[str]:
    """Return what the buyer's mails were about, oldest first."""
    steps = {"was refunded": "refunded", "declined": "declined", "staff will decide": "in review", "Your request": "asked"}
    subjects = [str(message.subject) for message in outbox.outbox if message.to == [buyer.email]]
    return [next((step for word, step in steps.items() if word in subject), subject) for subject in subjects]

"""Asking for a refund on pages, and the vendor's answer in the studio: the unhappy ways first."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from catalog.admin.terms import LicenseTermsForm
from catalog.models import Listing
from marketplace.review.decisions import ReasonForm
from marketplace.web.refund_forms import DeclineForm, EscalationForm, RefundForm
from marketplace.web.views.appeals import AppealForm
from tests.shop import bought
from tests.wallet.refund_request_cases import declined_request, downloaded_order, overdue_request, requested_refund, sold_order, vendor_of
from wallet.models import Order, RefundRequest
from wallet.services.refund_requests import escalate_overdue_requests
from wallet.services.refunds import refund_order

from .markup import read

pytestmark = pytest.mark.django_db
Browse = Callable[..., Client]


def address(name: str, thing: Any) -> str:
    return reverse(name, args=[thing.pk])


@pytest.mark.slow
def test_request_that_cannot_be_made_is_explained_in_the_form(browse: Browse) -> None:
    made = requested_refund()
    page = read(browse(made.order.buyer).post(address("refund-ask", made.order), {"reason": "other", "details": "It is blue."}), 400)
    assert "There is one request for each purchase" in page
    assert "It is blue." in page


@pytest.mark.slow
def test_purchase_without_a_download_is_refunded_at_once_on_request(browse: Browse) -> None:
    order = sold_order()
    client = browse(order.buyer)
    assert address("refund-ask", order) in read(client.get(address("order-page", order)))
    assert "It was refunded." in read(client.post(address("refund-ask", order), {"reason": "mistake"}, follow=True))


@pytest.mark.slow
def test_refund_of_an_upgrade_is_not_said_to_end_all_downloads(browse: Browse) -> None:
    order = sold_order()
    client = browse(order.buyer)
    assert "downloads stop" in read(client.get(address("refund-ask", order)))
    upgrade = bought(order.listing, order.buyer, license_slug="extended", upgrade_from=order.license_slug)
    page = read(client.get(address("refund-ask", upgrade)))
    assert (f"the {order.license_name} licence applies again" in page, "downloads stop" in page) == (True, False)


@pytest.mark.slow
def test_refund_of_a_free_upgrade_promises_no_money(browse: Browse) -> None:
    order = sold_order()
    Listing.objects.update(price_inr_minor=100)
    upgrade = bought(order.listing, order.buyer, license_slug="extended", upgrade_from=order.license_slug)
    assert upgrade.price_minor == 0
    client = browse(order.buyer)
    for page in ("order-page", "refund-ask"):
        text = read(client.get(address(page, upgrade)))
        assert ("your wallet" in text, "money back" in text) == (False, False), page


@pytest.mark.slow
def test_vendor_whose_time_to_answer_is_over_is_told_and_can_only_refund(browse: Browse) -> None:
    made = overdue_request(requested_refund())
    vendor = browse(vendor_of(made.order))
    page = read(vendor.get(address("vendor-refund-request", made)))
    assert (address("refund-agree", made) in page, "Decline" in page) == (True, False)
    assert "The time to answer is over" in read(vendor.post(address("vendor-refund-request", made), {"reason": "It opens here."}), 400)
    assert "The sale was refunded." in read(vendor.post(address("refund-agree", made), follow=True))


@pytest.mark.slow
def test_request_goes_from_the_buyer_to_the_vendor_and_back_and_to_staff(browse: Browse) -> None:
    order = downloaded_order()
    buyer, vendor = browse(order.buyer), browse(vendor_of(order))
    assert "Nobody has asked" in read(vendor.get(reverse("vendor-refund-requests")))
    page = read(buyer.post(address("refund-ask", order), {"reason": "faulty", "details": "<b>broken</b>"}, follow=True))
    assert "We passed your request on" in page
    assert "&lt;b&gt;broken" in page
    made = RefundRequest.objects.get()
    assert address("vendor-refund-request", made) in read(vendor.get(reverse("vendor-refund-requests")))
    case = read(vendor.get(address("vendor-refund-request", made)))
    assert "&lt;b&gt;broken" in case
    assert order.buyer.email not in case
    read(vendor.post(address("vendor-refund-request", made), {"reason": ""}), 400)
    assert "You declined" in read(vendor.post(address("vendor-refund-request", made), {"reason": "It opens here."}, follow=True))
    assert "It opens here." in read(buyer.get(address("order-page", order)))
    assert "It opens here." in read(buyer.get(address("refund-escalate", order)))
    assert "Our staff will decide" in read(buyer.post(address("refund-escalate", order), {"reason": "It is empty."}, follow=True))
    assert "only" in read(buyer.post(address("refund-escalate", order), {"reason": "Again."}), 400).lower()
    assert "It is empty." in read(vendor.get(address("vendor-refund-request", made)))


@pytest.mark.slow
def test_second_agreement_to_a_refund_says_that_it_is_refunded(browse: Browse) -> None:
    made = requested_refund()
    client = browse(vendor_of(made.order))
    assert address("refund-agree", made) in read(client.get(address("vendor-refund-request", made)))
    for words in ("The sale was refunded.", "It is Refunded already."):
        assert words in read(client.post(address("refund-agree", made), follow=True))
    assert Order.objects.get(pk=made.order_id).status == "Refunded"


@pytest.mark.slow
def test_suspended_vendor_cannot_answer_refund_requests(browse: Browse) -> None:
    made = requested_refund()
    profile = vendor_of(made.order).vendor_profile
    profile.status = "Suspended"
    profile.save()
    assert browse(profile.user).post(address("refund-agree", made)).status_code == 302
    assert RefundRequest.objects.get().status == "Waiting"


@pytest.mark.slow
@pytest.mark.parametrize("state", [requested_refund, declined_request, lambda: overdue_request(requested_refund())])
def test_order_page_offers_only_the_next_step_of_a_request(browse: Browse, state: Callable[[], RefundRequest]) -> None:
    made = state()
    escalate_overdue_requests()
    page = read(browse(made.order.buyer).get(address("order-page", made.order)))
    assert f'"{address("refund-ask", made.order)}"' not in page
    assert (address("refund-escalate", made.order) in page) == (RefundRequest.objects.get().status == "Declined")


@pytest.mark.slow
def test_order_page_of_an_upgraded_purchase_links_to_the_upgrade_that_is_refunded_first(browse: Browse) -> None:
    order = requested_refund().order
    upgrade = bought(order.listing, order.buyer, license_slug="commercial", upgrade_from="personal")
    client, link = browse(order.buyer), f'href="{address("order-page", upgrade)}"'
    assert link in read(client.get(address("order-page", order)))
    RefundRequest.objects.all().delete()
    page = read(client.get(address("order-page", order)))
    assert (link in page, address("refund-ask", order) in page) == (True, False)
    refund_order(order=upgrade, reason="agreed by mail", actor=None)
    assert link not in read(client.get(address("order-page", order)))


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (RefundForm, "details"),
        (EscalationForm, "reason"),
        (DeclineForm, "reason"),
        (AppealForm, "text"),
        (LicenseTermsForm, "text"),
        (LicenseTermsForm, "team_clause"),
        (partial(ReasonForm, subject=None), "reason"),
    ],
)
def test_text_with_line_breaks_may_be_as_long_as_the_browser_lets_it_be(form: Any, name: str) -> None:
    longest = int(form().fields[name].widget.attrs["maxlength"])
    written = "\n".join(["x" * 99] * (longest // 100)) + "."
    # A browser sends a line break as two characters.
    sent = form({name: written.replace("\n", "\r\n")})
    assert name not in sent.errors
    assert sent.cleaned_data[name] == written

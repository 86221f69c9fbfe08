"""Billing details on their page, the documents of an order, and a vendor's invoices by month."""

import csv
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.ui.formatting import money
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from tests.wallet.invoice_cases import BERLIN, MUMBAI, VAT_DE, billed, buyer_at, issue, operator, rate, vendor_as_seller
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.models import BillingDetails, Invoice, Order
from wallet.selectors import billing_details_of
from wallet.services.refunds import refund_order

from .markup import read

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
Browse = Callable[..., Client]
PAGE = "/dashboard/account/billing"
SENT = {"name": "Bo", "street": "2 Marine Drive", "city": "Mumbai", "postal_code": "400001", "country": "IN", "state": "27"}


def saved(user: User) -> BillingDetails:
    details = billing_details_of(user)
    assert details is not None
    return details


def test_billing_form_begins_with_what_is_saved(browse: Browse) -> None:
    user = UserFactory()
    billed(user, MUMBAI)
    page = browse(user).get(PAGE)
    read(page)
    assert (page.context["form"]["city"].value(), page.context["form"]["state"].value()) == ("Mumbai", "27")


def test_billing_address_abroad_replaces_the_indian_state(browse: Browse) -> None:
    user = UserFactory()
    billed(user, MUMBAI)
    moved = SENT | {"city": "Berlin", "country": "DE", "region": "Land Berlin"}
    assert browse(user).post(PAGE, moved).status_code == 302
    assert saved(user).region == "Land Berlin"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"tax_id": "27AAPFU0939F1ZW"}, "tax_id"),
        ({"state": ""}, "region"),
    ],
)
def test_wrong_detail_is_shown_at_its_field_and_nothing_is_saved(browse: Browse, wrong: dict[str, str], field: str) -> None:
    user = UserFactory()
    page = browse(user).post(PAGE, SENT | wrong)
    assert page.status_code == 400
    assert set(page.context["form"].errors) == {field}
    assert billing_details_of(user) is None


@pytest.mark.parametrize(
    ("following", "leads"), [("/checkout/1", "/checkout/1"), ("//evil.example", PAGE), ("account_logout", PAGE), ("nothing", PAGE)]
)
def test_billing_form_redirects_only_to_pages_of_this_site(browse: Browse, following: str, leads: str) -> None:
    assert browse().post(f"{PAGE}?next={following}", SENT)["Location"] == leads


@pytest.mark.parametrize(
    ("named", "proxies", "header", "seen"),
    [
        ("X-Country", ["127.0.0.1"], "fr", "FR"),
        ("X-Country", ["127.0.0.1"], "FRA", ""),
        ("X-Country", ["192.0.2.1"], "FR", ""),
        ("", ["127.0.0.1"], "FR", ""),
    ],
    ids=["told", "nonsense", "not by a proxy", "not named by the operator"],
)
def test_country_of_the_connection_is_taken_from_the_header_of_a_trusted_proxy_only(
    browse: Browse, settings: Any, named: str, proxies: list[str], header: str, seen: str
) -> None:
    settings.CLIENT_COUNTRY_HEADER, settings.TRUSTED_PROXIES = named, proxies
    user = UserFactory()
    browse(user).post(PAGE, SENT, headers={"X-Country": header, "X-Forwarded-For": "192.0.2.7"})
    assert saved(user).connection_country == seen


@pytest.mark.slow
@pytest.mark.slow
def test_order_before_there_was_a_seller_has_a_receipt_only(browse: Browse) -> None:
    order = bought(on_sale())
    operator()
    assert browse(order.buyer).get(reverse("order-page", args=[order.pk])).context["documents"] == []


def test_order_links_its_documents_once_they_are_issued(browse: Browse) -> None:
    operator()
    order = bought(on_sale(), buyer_at(MUMBAI))
    client = browse(order.buyer)
    page, invoice, note = (reverse(name, args=[order.pk]) for name in ("order-page", "order-page-invoice", "order-page-credit-note"))
    assert invoice not in read(client.get(page))
    assert client.get(invoice).status_code == 404
    issue()
    assert invoice in read(client.get(page))
    refund_order(order=order, reason="broken", actor=None)
    issue()
    assert note in read(client.get(page))
    for address in (invoice, note):
        document = client.get(address)
        assert (document["Content-Type"], document.content[:4]) == ("application/pdf", b"%PDF")


@pytest.mark.slow
def test_checkout_shows_whom_the_invoice_is_made_out_to_and_the_tax_by_their_billing_details(browse: Browse) -> None:
    operator()
    rate("IN", 1800)
    buyer, listing = funded(inr=100_000), on_sale()
    client = browse(buyer)
    checkout = client.post(reverse("checkout-begin", args=[listing.slug]), {"currency": "INR"})["Location"]
    assert "Bo Buyer" not in read(client.get(checkout))
    billed(buyer, BERLIN)
    assert "Tax included" not in read(client.get(checkout))
    billed(buyer, MUMBAI | {"tax_id": ""})
    page = read(client.get(checkout))
    assert "Bo Buyer, Mumbai" in page
    client.post(checkout, {"consent": IMMEDIATE_DELIVERY.version})
    order = Order.objects.get()
    assert order.tax_minor
    assert money(order.tax_minor, order.currency) in page


@pytest.mark.parametrize(("sold_by_operator", "price"), [(False, 1000), (True, 0)], ids=["no seller", "free"])
def test_checkout_promises_no_invoice_where_none_is_issued(browse: Browse, *, sold_by_operator: bool, price: int) -> None:
    if sold_by_operator:
        operator()
    client = browse(funded(usd=1000))
    listing = on_sale(base_price_minor=price)
    checkout = client.post(reverse("checkout-begin", args=[listing.slug]), {"currency": "USD"})["Location"]
    assert "invoice" not in read(client.get(checkout))
    order_page = client.post(checkout, {"consent": IMMEDIATE_DELIVERY.version})["Location"]
    assert client.get(order_page).context["documents"] == []


@pytest.mark.slow
def test_listing_page_names_no_rate_of_tax_since_it_depends_on_seller_and_buyer(browse: Browse) -> None:
    operator(BERLIN)
    rate("DE", 1900)
    page = read(browse().get(reverse("asset-page", args=[on_sale(tax_rate_bp=1800).slug])))
    assert ("Tax is included." in page, "18%" in page) == (True, False)


def sheet(client: Client, invoice: Invoice) -> list[dict[str, str]]:
    page: Any = client.get(reverse("sales-invoices-csv", args=[f"{invoice.date:%Y-%m}"]))
    return list(csv.DictReader(b"".join(page.streaming_content).decode().splitlines()))


def test_vendor_gets_the_documents_of_their_sales_without_the_operators_buyers(browse: Browse) -> None:
    operator()
    vendor, other = make_vendor(), make_vendor()
    order = bought(on_sale(store=vendor.store, title="=Halden"), buyer_at(BERLIN))
    refund_order(order=order, reason="broken", actor=None)
    bought(on_sale(store=other.store))
    invoice, *_ = issue()
    client = browse(vendor.user, confirmed=True)
    assert [count for _, count in client.get(reverse("sales-invoices")).context["months"]] == [2]
    read(client.get(reverse("sales-invoices")))
    first, note = sheet(client, invoice)
    assert (first["description"][:8], first["gross"], note["gross"]) == ("'=Halden", "499.00", "-499.00")
    assert float(first["net"]) == pytest.approx(float(first["commission"]) + float(first["vendorShare"]))
    assert (first["buyer"], first["buyerTaxId"], first["buyerCountry"]) == ("", "", "")


@pytest.mark.slow
def test_vendor_who_is_the_seller_sees_the_buyers(browse: Browse) -> None:
    vendor = make_vendor()
    vendor_as_seller(vendor.user)
    bought(on_sale(store=vendor.store), buyer_at(BERLIN))
    (invoice,) = issue()
    (line,) = sheet(browse(vendor.user, confirmed=True), invoice)
    assert (line["buyer"], line["buyerTaxId"], line["seller"]) == ("Markt GmbH", VAT_DE, "Bo Buyer")


@pytest.mark.parametrize("month", ["2026-13", "1999-01", "2026-1"])
def test_invoices_of_an_invalid_month_are_not_found(browse: Browse, month: str) -> None:
    assert browse(make_vendor().user, confirmed=True).get(reverse("sales-invoices-csv", args=[month])).status_code == 404

"""Billing details and invoices by API."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.contract.calls import operations_in_document
from tests.factories import UserFactory
from tests.shop import bought, on_sale
from wallet.models import BillingDetails
from wallet.services.refunds import refund_order

from .invoice_cases import BANGALORE, BERLIN, GSTIN, MUMBAI, PARIS, VAT_DE, billed, buyer_at, issue, operator, rate

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
Client = Callable[..., APIClient]
BILLING = "/api/v1/account/billing"
EMPTY = {"name": "", "street": "", "postalCode": "", "city": "", "region": "", "country": "", "taxId": "", "countryConfirmed": False}


def address(order: Any, what: str = "invoice") -> str:
    return f"/api/v1/orders/{order.pk}/{what}"


def told(response: Any) -> tuple[int, str]:
    return response.status_code, response.json().get("code", "")


def test_billing_details_are_empty_at_first_entered_as_a_whole_and_can_be_changed_in_part(bearer_client: Client) -> None:
    client = bearer_client()
    assert client.get(BILLING).json() == EMPTY
    body = {"name": "Bo", "street": "2 Marine Drive", "city": "Mumbai", "region": "27", "country": "IN"}
    for missing in ("name", "street", "city", "country"):
        (error,) = client.patch(BILLING, {name: value for name, value in body.items() if name != missing}, format="json").json()["errors"]
        assert (error["pointer"], error["code"]) == (f"#/{missing}", "blank")
    answer = client.patch(BILLING, body, format="json").json()
    assert answer == EMPTY | body
    assert client.patch(BILLING, {"postalCode": "400001"}, format="json").json() == answer | {"postalCode": "400001"}
    assert client.get(BILLING).json() == answer | {"postalCode": "400001"}


def test_tax_id_or_region_of_another_place_is_refused_by_field_and_changes_nothing(bearer_client: Client) -> None:
    user = UserFactory()
    billed(user, MUMBAI)
    client = bearer_client(user)
    for body, pointer in (({"taxId": GSTIN}, "#/taxId"), ({"region": "28"}, "#/region"), ({"country": "DE", "taxId": "DE1"}, "#/taxId")):
        response = client.patch(BILLING, body, format="json")
        assert told(response) == (422, "invalid_billing_details")
        assert [error["pointer"] for error in response.json()["errors"]] == [pointer]
    assert BillingDetails.objects.filter(owner=user).count() == 1


def test_billing_details_entered_by_an_app_do_not_confirm_the_country(bearer_client: Client, settings: Any) -> None:
    settings.CLIENT_COUNTRY_HEADER, settings.TRUSTED_PROXIES = "X-Country", ["127.0.0.1"]
    user = UserFactory()
    body = {"name": "A", "street": "1 rue", "city": "Paris", "country": "FR"}
    headers = {"X-Country": "FR", "X-Forwarded-For": "192.0.2.1"}
    assert bearer_client(user).patch(BILLING, body, format="json", headers=headers).json()["countryConfirmed"] is False


@pytest.mark.slow
def test_free_or_early_purchase_and_one_without_a_refund_have_no_document(bearer_client: Client) -> None:
    early = bought(on_sale())
    operator()
    free, kept = bought(on_sale(price_inr_minor=0, base_price_minor=0)), bought(on_sale())
    issue()
    for order, what in ((early, "invoice"), (free, "invoice.pdf"), (kept, "credit-note.pdf")):
        assert told(bearer_client(order.buyer).get(address(order, what))) == (404, "not_invoiced")


def test_invoice_with_the_buyers_address_is_not_found_by_the_vendor(bearer_client: Client) -> None:
    operator()
    order = bought(on_sale())
    issue()
    for what in ("invoice", "invoice.pdf"):
        assert told(bearer_client(order.listing.store.owner).get(address(order, what))) == (404, "not_found")


@pytest.mark.slow
def test_invoice_and_credit_note_are_pending_until_they_are_numbered_and_returned_as_issued(bearer_client: Client) -> None:
    operator(BANGALORE | {"tax_id": GSTIN})
    rate("IN", 1800)
    order = bought(on_sale(title="Halden"), buyer_at(MUMBAI))
    client = bearer_client(order.buyer)
    for what in ("invoice", "invoice.pdf"):
        response = client.get(address(order, what))
        assert (told(response), response.headers["Retry-After"]) == ((409, "invoice_pending"), "30")
        assert "Retry-After" in operations_in_document()[f"GET /orders/{{}}/{what}"]["responses"]["409"]["headers"]
    issue()
    invoice = client.get(address(order)).json()
    assert (invoice["seller"], invoice["net"], invoice["total"], invoice["creditNote"]) == ("Market Ltd", 422.88, 499.0, None)
    assert invoice["taxLines"] == [{"name": "IGST", "ratePercent": 18.0, "amount": 76.12}]
    refund_order(order=order, reason="broken", actor=None)
    assert client.get(address(order)).json() == invoice
    assert told(client.get(address(order, "credit-note.pdf"))) == (409, "invoice_pending")
    issue()
    note = client.get(address(order)).json()["creditNote"]
    assert (note["total"], note["taxLines"]) == (499.0, invoice["taxLines"])
    for what in ("invoice.pdf", "credit-note.pdf"):
        assert client.get(address(order, what)).content.startswith(b"%PDF")


def test_reverse_charge_names_both_tax_ids(bearer_client: Client) -> None:
    operator(PARIS)
    order = bought(on_sale(), buyer_at(BERLIN), currency="USD")
    issue()
    invoice = bearer_client(order.buyer).get(address(order)).json()
    assert (invoice["treatment"], invoice["taxLines"], invoice["net"], invoice["currency"]) == ("reverse_charge", [], 10.0, "USD")
    assert (invoice["sellerTaxId"], invoice["buyerTaxId"]) == (PARIS["tax_id"], VAT_DE)

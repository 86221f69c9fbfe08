"""Sellers, rates and invoices in the admin: who may see and change them, and what is refused."""

import csv
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from marketplace.core.models import AuditEntry
from tests.admin.pages import address, staff, text_of
from tests.callers import signed_in
from tests.factories import UserFactory
from tests.shop import bought, on_sale
from wallet.models import ExchangeRate, Invoice, Seller, TaxRate
from wallet.services.refunds import refund_order

from .invoice_cases import BANGALORE, GSTIN, MUMBAI, NUMBERING, billed, buyer_at, issue, operator, rate

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
RATE = {"country": "de", "rate_bp": "1900", "valid_from": "2026-01-01"}
EXPORT = "admin:wallet_invoice_export"


def sheet(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(b"".join(response.streaming_content).decode().splitlines()))


@pytest.mark.parametrize(("model", "sent", "make"), [(Seller, NUMBERING | BANGALORE, operator), (TaxRate, RATE, partial(rate, "DE", 1900))])
def test_seller_and_tax_rate_are_not_added_by_staff_who_may_look_and_deleted_by_nobody(
    model: Any, sent: dict[str, str], make: Callable[[], Any]
) -> None:
    client = signed_in(staff(f"wallet.view_{model._meta.model_name}"))
    assert client.get(address(model, "changelist")).status_code == 200
    assert client.post(address(model, "add"), sent).status_code == 403
    assert not model.objects.exists()
    client = signed_in(UserFactory(is_staff=True, is_superuser=True))
    assert client.post(address(model, "delete", make().pk), {"post": "yes"}).status_code == 403
    assert model.objects.exists()


@pytest.mark.slow
def test_operator_is_entered_and_changed_in_one_form() -> None:
    client = signed_in(staff("wallet.add_seller", "wallet.change_seller"))
    response = client.post(address(Seller, "add"), NUMBERING | BANGALORE | {"tax_id": GSTIN})
    assert response.status_code == 302, text_of(response)
    seller = Seller.objects.get()
    assert (seller.vendor, seller.details.tax_id, seller.fiscal_year_month) == (None, GSTIN, 4)
    page = address(Seller, "change", seller.pk)
    assert GSTIN in client.get(page).content.decode()
    client.post(page, NUMBERING | BANGALORE | {"tax_id": GSTIN, "street": "3 MG Road"})
    seller.refresh_from_db()
    assert (seller.details.street, seller.details.tax_id) == ("3 MG Road", GSTIN)
    assert {entry.action for entry in AuditEntry.objects.all()} == {"seller.create", "seller.update"}


@pytest.mark.slow
def test_vendor_is_made_the_seller_by_the_slug_of_the_store_once() -> None:
    client = signed_in(staff("wallet.add_seller", "wallet.change_seller"))
    store = on_sale().store
    sent = NUMBERING | {"store": store.slug}
    assert "has not entered billing details" in text_of(client.post(address(Seller, "add"), sent))
    billed(store.owner, MUMBAI)
    assert [client.post(address(Seller, "add"), sent).status_code for _ in range(2)] == [302, 200]
    seller = Seller.objects.get()
    assert (seller.vendor, seller.details.city) == (store.owner, "Mumbai")
    client.post(address(Seller, "change", seller.pk), {name: value for name, value in NUMBERING.items() if name != "is_active"})
    seller.refresh_from_db()
    assert (seller.is_active, seller.details.city) == (False, "Mumbai")


def test_wrong_seller_is_refused_in_the_form() -> None:
    client = signed_in(staff("wallet.add_seller"))
    for wrong in ({"number_pattern": "INVOICES/{year}/{number}"}, {"tax_id": "29AAGCB7383J1Z5"}, {"name": ""}, {"store": "no-such-store"}):
        response = client.post(address(Seller, "add"), NUMBERING | BANGALORE | wrong)
        assert (response.status_code, bool(response.context["errors"])) == (200, True), wrong
    assert not Seller.objects.exists()


@pytest.mark.slow
def test_rates_are_entered_and_checked() -> None:
    client = signed_in(staff("wallet.add_taxrate", "wallet.add_exchangerate"))
    assert client.post(address(TaxRate, "add"), RATE).status_code == 302
    assert TaxRate.objects.get().country == "DE"
    for wrong in ({"country": "ZZ"}, {"country": "IN", "region": "28"}, {"rate_bp": "10001"}, {"valid_to": "2025-01-01"}, {}):
        assert client.post(address(TaxRate, "add"), RATE | wrong).status_code == 200, wrong
    exchange = {"currency": "USD", "tax_currency": "eur", "rate": "0.92", "valid_from": "2026-01-01"}
    assert client.post(address(ExchangeRate, "add"), exchange).status_code == 302
    assert ExchangeRate.objects.get().tax_currency == "EUR"
    for wrong in ({"tax_currency": "USD"}, {"tax_currency": "EURO"}, {"rate": "0"}, {"currency": "EUR"}):
        assert client.post(address(ExchangeRate, "add"), exchange | wrong).status_code == 200, wrong
    client = signed_in(staff("wallet.change_taxrate", "wallet.change_exchangerate"))
    for row in (TaxRate.objects.get(), ExchangeRate.objects.get()):
        assert client.get(address(type(row), "change", row.pk)).status_code == 200


def invoiced() -> Invoice:
    operator(BANGALORE | {"tax_id": GSTIN})
    order = bought(on_sale(title="=Halden"), buyer_at(MUMBAI | {"name": "+Bo"}))
    refund_order(order=order, reason="broken", actor=None)
    issue()
    return Invoice.objects.get(kind="invoice")


def test_invoices_are_listed_and_shown_and_never_edited() -> None:
    invoice = invoiced()
    client = signed_in(staff("wallet.view_invoice"))
    for month in (f"{timezone.now():%Y-%m}", "2026-13"):
        assert invoice.number in text_of(client.get(address(Invoice, "changelist"), {"month": month}))
    page = client.get(address(Invoice, "change", invoice.pk))
    assert invoice.number in text_of(page)
    assert client.post(address(Invoice, "change", invoice.pk), {"number": "X"}).status_code == 403
    document = client.get(reverse("admin:wallet_invoice_document", args=[invoice.pk]))
    assert document.content.startswith(b"%PDF")
    assert signed_in(staff("wallet.view_order")).get(reverse("admin:wallet_invoice_document", args=[invoice.pk])).status_code == 403


def test_export_needs_its_own_permission_and_guards_cells_against_formulas() -> None:
    invoice = invoiced()
    assert signed_in(staff("wallet.view_invoice")).get(reverse(EXPORT)).status_code == 403
    assert signed_in(staff("wallet.export_invoice")).get(reverse(EXPORT)).status_code == 403
    client = signed_in(staff("wallet.view_invoice", "wallet.export_invoice"))
    note, first = sheet(client.get(reverse(EXPORT), {"month": f"{invoice.date:%Y-%m}"}))
    assert (first["number"], first["buyer"], first["description"][:8], first["gross"]) == (invoice.number, "'+Bo", "'=Halden", "499.00")
    assert (note["corrects"], note["gross"], note["net"]) == (invoice.number, "-499.00", f"-{invoice.net_minor / 100:.2f}")
    assert sheet(client.get(reverse(EXPORT), {"month": "2020-01"})) == []
    assert client.get(reverse(EXPORT), {"nonsense": "1"}).status_code == 400


@pytest.mark.slow
def test_invoice_export_by_command_equals_that_of_the_admin(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    invoice = invoiced()
    month = f"{invoice.date:%Y-%m}"
    call_command("export_invoices", month=month)
    printed = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [line["kind"] for line in printed] == ["invoice", "credit_note"]
    call_command("export_invoices", month=month, csv=tmp_path / "invoices.csv", vendor=invoice.order.listing.store.slug)
    assert list(csv.DictReader((tmp_path / "invoices.csv").read_text().splitlines())) == printed
    for wrong in ({"month": "2026"}, {"month": month, "vendor": "nobody"}, {"month": month, "csv": tmp_path / "no" / "file"}):
        with pytest.raises(CommandError):
            call_command("export_invoices", **wrong)

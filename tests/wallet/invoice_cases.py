"""Sellers, buyers with billing details, and the invoices of what they buy."""

from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from marketplace.accounts.models import User
from tests.factories import UserFactory
from tests.shop import funded
from wallet.models import BillingDetails, Invoice, Seller, TaxRate
from wallet.services.billing import save_billing_details, save_seller
from wallet.services.invoices import issue_invoices

GSTIN, VAT_DE, VAT_FR = "29AAGCB7383J1Z4", "DE136695976", "FR40303265045"
BANGALORE = {"name": "Market Ltd", "street": "1 MG Road", "city": "Bengaluru", "postal_code": "560001", "region": "29", "country": "IN"}
MUMBAI = {"name": "Bo Buyer", "street": "2 Marine Drive", "city": "Mumbai", "postal_code": "400001", "region": "27", "country": "IN"}
BERLIN = {"name": "Markt GmbH", "street": "Hauptstr. 1", "city": "Berlin", "postal_code": "10827", "country": "DE", "tax_id": VAT_DE}
PARIS = {"name": "Achat SARL", "street": "1 rue de Rivoli", "city": "Paris", "postal_code": "75001", "country": "FR", "tax_id": VAT_FR}
# As the form of a seller in the admin sends it.
NUMBERING = {"is_active": "on", "number_pattern": "INV/{year}/{number}", "fiscal_year_month": "4", "time_zone": "Asia/Kolkata"}


def operator(details: dict[str, str] = BANGALORE, **fields: Any) -> Seller:
    seller = Seller(**{"number_pattern": "INV/{year}/{number}", "fiscal_year_month": 4, "time_zone": "Asia/Kolkata", **fields})
    return save_seller(seller=seller, changed=[], details=details, actor=UserFactory(is_staff=True))


def vendor_as_seller(vendor: User, details: dict[str, str] = MUMBAI) -> Seller:
    billed(vendor, details)
    return save_seller(seller=Seller(vendor=vendor), changed=[], details={}, actor=UserFactory(is_staff=True))


def billed(user: User, details: dict[str, str], connection_country: str = "") -> BillingDetails:
    return save_billing_details(user=user, values=details, actor=user, connection_country=connection_country)


def buyer_at(details: dict[str, str], connection_country: str = "") -> User:
    user = funded(inr=1_000_000, usd=1_000_000)
    billed(user, details, connection_country)
    return user


def rate(country: str, rate_bp: int, **fields: Any) -> TaxRate:
    return TaxRate.objects.create(country=country, rate_bp=rate_bp, **{"valid_from": date(2020, 1, 1), **fields})


def issue() -> list[Invoice]:
    """Issue everything at once, and return all documents in the order of their numbers."""
    issue_invoices(until=timezone.now() + timedelta(seconds=1))
    return list(Invoice.objects.order_by("seller", "fiscal_year", "sequence"))

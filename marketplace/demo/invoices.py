"""The demo's seller of record and its rate of tax, and a purchase with its invoice."""

from datetime import date

from django.utils import timezone

from library.licensees import Licensee
from marketplace.core.money import Currency
from wallet.models import Seller, TaxRate
from wallet.selectors import billing_details_of, operator_seller, orders_of
from wallet.services.billing import save_billing_details, save_seller
from wallet.services.invoices import issue_invoices
from wallet.services.offers import PurchaseRequest
from wallet.services.spending import spend
from wallet.services.tax_rates import save_tax_rate

from .entries import listings_to_buy
from .people import People

# Its tax id is made up: only its format and checksum are right.
OPERATOR = {
    "name": "Demo Marketplace Pvt Ltd",
    "street": "14 Residency Road",
    "postal_code": "560025",
    "city": "Bengaluru",
    "region": "29",
    "country": "IN",
    "tax_id": "29AAGCB7383J1Z4",
}
BUYER = {
    "name": "Bo Buyer",
    "street": "2 Marine Drive",
    "postal_code": "400020",
    "city": "Mumbai",
    "region": "27",
    "country": "IN",
}
GST_BP = 1_800
CLIENT = Licensee("Lindqvist AB", "fonts@lindqvist.example")


def make_seller(people: People) -> None:
    """Enter the operator as the seller of record, a rate of tax, and the buyer's billing details, where they are missing."""
    if operator_seller() is None:
        seller = Seller(number_pattern="DEM/{year}/{number}", fiscal_year_month=4, time_zone="Asia/Kolkata", service_code="998439")
        save_seller(seller=seller, changed=[], details=OPERATOR, actor=people.admin)
    if not TaxRate.objects.filter(country="IN").exists():
        save_tax_rate(rate=TaxRate(country="IN", rate_bp=GST_BP, valid_from=date(2017, 7, 1)), changed=[], actor=people.admin)
    if billing_details_of(people.buyer) is None:
        save_billing_details(user=people.buyer, values=BUYER, actor=people.buyer)


def make_invoice(people: People) -> None:
    """Let the buyer buy the last listing of the catalog that has a price, once for themselves and once for a client, and issue the invoices."""
    listing = listings_to_buy(people.buyer).last()
    if listing is not None and not orders_of(people.buyer).exists():
        for licensee in (None, CLIENT):
            spend(buyer=people.buyer, purchase=PurchaseRequest(listing.slug, Currency.INR, licensee=licensee))
    issue_invoices(until=timezone.now())

"""Billing details of buyers, vendors and the operator, and the sellers of record."""

import re
from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

from django.db import transaction
from django.db.models import Exists, OuterRef
from django_countries.data import COUNTRIES

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core import bounds as core_bounds
from marketplace.core.transitions import lock
from vendors.logos import process_logo

from .. import bounds
from ..invoice_numbers import invoice_number
from ..models import BillingDetails, Invoice, Logo, Order, Seller
from ..places import INDIA, INDIAN_STATES, compact_tax_id
from ..selectors import billing_details_of
from .tax_rates import clean_tax_currency

# The longest value of each field, and whether it is required.
BILLING_FIELDS = {
    "name": (core_bounds.NAME_CHARS, True),
    "street": (bounds.BILLING_LINE_CHARS, True),
    "postal_code": (bounds.POSTAL_CODE_CHARS, False),
    "city": (bounds.BILLING_LINE_CHARS, True),
    "region": (bounds.REGION_CHARS, False),
    "country": (2, True),
    "tax_id": (bounds.TAX_ID_CHARS, False),
}
# A pattern of invoice numbers must have room for this many digits.
REQUIRED_DIGITS = 6
_LITERAL = re.compile(r"[A-Za-z0-9/-]*")


def clean_billing_details(values: Mapping[str, str]) -> dict[str, str]:
    """Return complete billing details with a checked tax id.

    Raises:
        InvalidInput: a value is missing, too long or unknown; of a tax id only format and checksum are checked.
    """
    details = {
        name: texts.clean_line(values.get(name, ""), name, maximum=maximum, required=required)
        for name, (maximum, required) in BILLING_FIELDS.items()
    }
    details["country"] = country = details["country"].upper()
    if country not in COUNTRIES:
        raise texts.invalid("country", "invalid", "Enter the two letters of a country, such as DE.")
    if country == INDIA and details["region"] not in INDIAN_STATES:
        raise texts.invalid("region", "invalid", "Enter the two digits of the state's GST code, such as 29.")
    if details["tax_id"]:
        tax_id = compact_tax_id(details["tax_id"], country=country, region=details["region"])
        if tax_id is None:
            raise texts.invalid("tax_id", "invalid", "This is not a tax id of this country and region.")
        details["tax_id"] = tax_id
    return details


@transaction.atomic
def save_billing_details(*, user: User, values: Mapping[str, str], actor: User, connection_country: str = "") -> BillingDetails:
    """Change the fields of a user's billing details that `values` has; those of past sales stay as they were.

    `connection_country` is known if the user enters them on our page and a proxy tells it.

    Raises:
        InvalidInput: they are not valid.
        NotFound: the account is not active.
    """
    # Serialises concurrent requests of the user, so that each changes what the other left, and the deletion of the account, which erases it.
    lock(User.objects.filter(is_active=True), pk=user.pk)
    current = billing_details_of(user)
    known = {} if current is None else {name: getattr(current, name) for name in BILLING_FIELDS}
    details = clean_billing_details({**known, **values})
    saved = _set_current(user, details | {"connection_country": connection_country})
    seller = Seller.objects.filter(vendor=user).first()
    if seller is not None:
        seller.details = saved
        seller.save(update_fields=["details"])
    # The audit log is permanent, so it does not repeat the address.
    audit.record("billing.update", user, actor=actor, country=saved.country)
    return saved


def change_logo(*, user: User | None, image: bytes, actor: User) -> BillingDetails:
    """Set the logo on a seller's invoices from now on; past ones stay as they were. An empty image removes it.

    The user is None for the operator. The image is a JPG, PNG or WebP file, which is re-encoded.

    Raises:
        InvalidInput: there are no billing details yet.
        NotFound: the account is not active.
        UnsupportedType, FileRejected, BodyTooLarge: it is not an image that can be used.
        DependencyUnavailable: it cannot be checked at the moment.
    """
    content = process_logo(image, sender=str(actor.pk)) if image else b""
    with transaction.atomic():
        if user is None:
            Seller.objects.select_for_update(no_key=True).filter(vendor=None).first()
        else:
            lock(User.objects.filter(is_active=True), pk=user.pk)
        current = billing_details_of(user)
        if current is None:
            raise texts.invalid("logo", "invalid", "Enter the billing details first.")
        logo = Logo.objects.create(owner=user, image=content) if content else None
        values = {name: getattr(current, name) for name in BILLING_FIELDS}
        saved = _set_current(user, {**values, "logo_id": None if logo is None else logo.pk})
        Seller.objects.filter(vendor=user).update(details=saved)
        audit.record("billing.change_logo", saved, actor=actor, bytes=len(content))
    return saved


@transaction.atomic
def save_seller(*, seller: Seller, changed: list[str], details: Mapping[str, str], actor: User) -> Seller:
    """Save a seller of record; `details` are the operator's, a vendor enters their own. Raises what `clean_seller` raises."""
    checked = clean_seller(seller=seller, details=details)
    # Before the details are read, which someone else may be changing.
    Seller.objects.select_for_update(no_key=True).filter(pk=seller.pk).first()
    if seller.vendor is None:
        seller.details = _set_current(None, checked)
    else:
        # Once the vendor's account is deleted there are no current ones: the last stay.
        seller.details = billing_details_of(seller.vendor) or seller.details
    audit.save_and_record(seller, changed=changed, actor=actor)
    return seller


def clean_seller(*, seller: Seller, details: Mapping[str, str]) -> dict[str, str]:
    """Normalise a seller, and return the operator's checked billing details; none for a vendor.

    Raises:
        InvalidInput: the pattern of numbers, the time zone or the operator's details are not valid, the operator or the vendor
            is a seller already, or the vendor has not entered billing details.
    """
    _check_numbering(seller)
    seller.tax_currency = clean_tax_currency(seller.tax_currency)
    if Seller.objects.filter(vendor=seller.vendor).exclude(pk=seller.pk).exists():
        sentence = (
            "The operator is a seller already. Name the store of a vendor." if seller.vendor is None else "This vendor is a seller already."
        )
        raise texts.invalid("store", "unique", sentence)
    if seller.vendor is None:
        return clean_billing_details(details)
    if billing_details_of(seller.vendor) is None and not Seller.objects.filter(pk=seller.pk).exists():
        raise texts.invalid("store", "invalid", "This vendor has not entered billing details yet.")
    return {}


@transaction.atomic
def erase_billing_details(*, user: User) -> None:
    """Delete a user's billing details, except for those that a sale or an invoice refers to, which are kept by law."""
    rows = BillingDetails.objects.filter(owner=user)
    rows.update(current=False)
    referred_to = (
        Exists(Order.objects.filter(buyer_details=OuterRef("pk")))
        | Exists(Invoice.objects.filter(seller_details=OuterRef("pk")))
        | Exists(Seller.objects.filter(details=OuterRef("pk")))
    )
    rows.exclude(referred_to).delete()
    Logo.objects.filter(owner=user, details__isnull=True).delete()


def _set_current(owner: User | None, details: Mapping[str, Any]) -> BillingDetails:
    """Make these the owner's current details, and return their row; the logo is kept, and the connection's country while the country is the same."""
    # An invoice that refers to the row need not wait, and so cannot deadlock.
    current = BillingDetails.objects.select_for_update(no_key=True).filter(owner=owner, current=True).first()
    if current is not None:
        if not details.get("connection_country") and current.country == details["country"]:
            details = {**details, "connection_country": current.connection_country}
        details = {"logo_id": current.logo_id, **details}
        if all(getattr(current, name) == value for name, value in details.items()):
            return current
        current.current = False
        current.save(update_fields=["current"])
    return BillingDetails.objects.create(owner=owner, **details)


def _check_numbering(seller: Seller) -> None:
    pattern = seller.number_pattern
    literal = pattern.replace("{year}", "").replace("{number}", "")
    if pattern.count("{year}") != 1 or pattern.count("{number}") != 1 or not _LITERAL.fullmatch(literal):
        raise texts.invalid("number_pattern", "invalid", "Use {year} and {number} once each, and letters, digits, - and /.")
    longest = invoice_number(pattern, year=2000, month=seller.fiscal_year_month, sequence=10**REQUIRED_DIGITS - 1)
    if len(longest) > bounds.INVOICE_NUMBER_CHARS:
        sentence = f"Its numbers would have {len(longest)} characters; at most {bounds.INVOICE_NUMBER_CHARS} are allowed."
        raise texts.invalid("number_pattern", "max_length", sentence)
    if seller.time_zone not in available_timezones():
        raise texts.invalid("time_zone", "invalid", "Enter a time zone such as Asia/Kolkata.")

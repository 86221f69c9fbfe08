"""Issues invoices for sales, and credit notes for refunds and for purchases whose card payment was returned, in the order of the ledger.

Numbers are given by a job, not in the sale, so that sales do not wait for each other.
"""

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from marketplace.core.ids import first_id_at
from marketplace.core.money import scaled
from marketplace.core.transitions import lock

from .. import bounds
from ..invoice_numbers import fiscal_year_of, highest_possible_sequence, invoice_number
from ..models import BillingDetails, Invoice, Journal, Order, Seller
from ..models.invoices import InvoiceKind
from ..models.ledger import JournalKind
from ..selectors import MAX_TRANSACTION_DURATION, billing_details_at, charged_back_without_credit_note
from ..tax import Treatment
from .tax_rates import exchange_rate_on

BATCH = 500
# A journal gets its invoice once it is this old, so that earlier ones that commit later keep their order. One that commits after that gets the next number.
GRACE = timedelta(seconds=10)
# Treatments for which the tax is that of the seller's country.
_IN_SELLERS_COUNTRY = (Treatment.INTRA_STATE, Treatment.DOMESTIC)


class InvoiceNumbersUsedUp(Exception):
    """The pattern of a seller's numbers has no room for the next one."""

    def __init__(self, seller: Seller, sequence: int) -> None:
        super().__init__(
            f"The numbers of {seller} by {seller.number_pattern} are used up at {sequence - 1:,}. "
            f"Shorten the pattern under Sellers of record: a number has at most {bounds.INVOICE_NUMBER_CHARS} characters."
        )


def issue_invoices(*, until: datetime | None = None, everything: bool = False) -> int:
    """Issue what is due, batch by batch, and return the number of documents.

    Args:
        until: Only journals up to this time; by default `GRACE` before now.
        everything: Whether to search all journals, not only those since an hour before the last one that has a document.

    Raises:
        InvoiceNumbersUsedUp: a seller needs a shorter pattern; the documents of the others are issued.
    """
    until = timezone.now() - GRACE if until is None else until
    issued, used_up = 0, None
    for seller_id in Seller.objects.order_by("pk").values_list("pk", flat=True):
        try:
            while batch := _issue_batch(seller_id, until, everything=everything):
                issued += batch
        except InvoiceNumbersUsedUp as error:
            used_up = error
    if used_up is not None:
        raise used_up
    return issued


def _find_due(seller_id: Any, until: datetime, *, everything: bool) -> list[tuple[Journal, Order]]:
    """Return the seller's oldest journals that have no document, up to a time, oldest first, each with its order.

    Unless `everything` is searched, those since an hour before the last one that has a document: no transaction lasts longer.
    """
    related = ("order__buyer", "order__buyer_details", "order__upgraded_from", "order__listing__store")
    rows = Journal.objects.filter(kind__in=(JournalKind.SALE, JournalKind.REFUND), order__seller=seller_id, invoices__isnull=True)
    rows = rows.filter(at__lte=until).select_related(*related).order_by("id")
    ended = charged_back_without_credit_note().filter(order__seller=seller_id)
    ended = ended.filter(reversal__closing_journal__at__lte=until).select_related(*related)
    last = Invoice.objects.filter(seller=seller_id).order_by("-issued_at").values_list("journal__at", flat=True).first()
    if last is not None and not everything:
        since = last - MAX_TRANSACTION_DURATION
        # By the time-ordered ids, which are indexed.
        rows, ended = rows.filter(pk__gte=first_id_at(since), at__gt=since), ended.filter(reversal__closing_journal__at__gt=since)
    due = [(journal, journal.order) for journal in rows[:BATCH] if journal.order is not None]
    due += [(each.reversal.closing_journal, each.order) for each in ended[:BATCH] if each.reversal.closing_journal is not None]
    return sorted(due, key=lambda pair: (pair[0].pk, pair[1].pk))[:BATCH]


@transaction.atomic
def _issue_batch(seller_id: Any, until: datetime, *, everything: bool) -> int:
    """Issue the next documents of a seller, whose row is locked meanwhile: numbers are given by one run at a time."""
    seller = lock(Seller.objects.select_related("details"), pk=seller_id)
    issued: list[Invoice] = []
    batch = _find_due(seller_id, until, everything=everything)
    orders = [order for _, order in batch]
    invoices = {invoice.order_id: invoice for invoice in Invoice.objects.filter(order__in=orders, kind=InvoiceKind.INVOICE)}
    last_issued_sequences: dict[int, int] = {}
    for journal, order in batch:
        corrected = None if journal.kind == JournalKind.SALE else invoices.get(order.pk)
        if journal.kind != JournalKind.SALE and corrected is None:
            # By another node's clock the sale is later than its refund, and has no invoice yet: a later batch issues the credit note.
            continue
        day = journal.at.astimezone(ZoneInfo(seller.time_zone)).date()
        year = fiscal_year_of(day, seller.fiscal_year_month)
        last = last_issued_sequences[year] if year in last_issued_sequences else _last_issued_sequence(seller, year)
        last_issued_sequences[year] = sequence = last + 1
        if sequence > highest_possible_sequence(seller.number_pattern, year=year, month=seller.fiscal_year_month):
            if issued:
                break
            raise InvoiceNumbersUsedUp(seller, sequence)
        number = invoice_number(seller.number_pattern, year=year, month=seller.fiscal_year_month, sequence=sequence)
        facts = _facts_of_sale(seller, order, day) if corrected is None else _facts_of_credit_note(corrected)
        invoice = Invoice(
            seller=seller, fiscal_year=year, sequence=sequence, number=number, order=order, journal=journal, date=day, **facts
        )
        invoices[order.pk] = invoice
        issued.append(invoice)
    Invoice.objects.bulk_create(issued)
    return len(issued)


def _last_issued_sequence(seller: Seller, year: int) -> int:
    return Invoice.objects.filter(seller=seller, fiscal_year=year).aggregate(last=Max("sequence"))["last"] or 0


def _facts_of_sale(seller: Seller, order: Order, day: date) -> dict[str, Any]:
    """Return the fields of the invoice of a sale."""
    buyer_details, sold_at = order.buyer_details, order.created_at
    # The seller may have replaced them since.
    earlier = None if seller.details.created_at <= sold_at else billing_details_at(seller.vendor, sold_at)
    seller_details = earlier or seller.details
    place = _place_of_supply(order, seller_details)
    version = f", version {order.version}" if order.version else ""
    upgrade = "" if order.upgraded_from is None else f", upgrade from {order.upgraded_from.license_name}"
    return {
        "kind": InvoiceKind.INVOICE,
        "vendor_id": order.listing.store.owner_id,
        "seller_details": seller_details,
        "buyer_details": buyer_details,
        "buyer_name": buyer_details.name if buyer_details is not None else order.buyer.name or order.buyer.email,
        "description": f"{order.title}{version}, licence {order.license_name}{upgrade}",
        "service_code": seller.service_code,
        "treatment": order.tax_treatment,
        "country": "" if place is None else place.country,
        "region": "" if place is None else place.region,
        "currency": order.currency,
        "gross_minor": order.price_minor,
        "tax_minor": order.tax_minor,
        "tax_rate_bp": order.tax_rate_bp,
        **_in_tax_currency(seller.tax_currency, order, day),
    }


def _place_of_supply(order: Order, seller_details: BillingDetails) -> BillingDetails | None:
    """Return the details whose country and region decided the rate (`wallet.tax.decide_tax`), None where the listing's rate applies."""
    buyer_details = order.buyer_details
    if order.tax_treatment == Treatment.LISTING:
        return None
    if order.tax_treatment in _IN_SELLERS_COUNTRY and (buyer_details is None or buyer_details.country != seller_details.country):
        return seller_details
    return buyer_details


def _in_tax_currency(tax_currency: str, order: Order, day: date) -> dict[str, Any]:
    if tax_currency in {"", order.currency}:
        return {}
    rate = exchange_rate_on(currency=order.currency, tax_currency=tax_currency, day=day)
    if rate is None:
        return {}
    return {"tax_currency": tax_currency, "exchange_rate": rate, "tax_in_tax_currency_minor": scaled(order.tax_minor, rate)}


_COPIED = (
    *("seller_details_id", "buyer_details_id", "buyer_name", "description", "service_code", "treatment", "country", "region", "currency"),
    *("vendor_id", "gross_minor", "tax_minor", "tax_rate_bp", "tax_currency", "exchange_rate", "tax_in_tax_currency_minor"),
)


def _facts_of_credit_note(invoice: Invoice) -> dict[str, Any]:
    """Return the fields of the credit note of an invoice."""
    return {"kind": InvoiceKind.CREDIT_NOTE, "corrects": invoice, **{name: getattr(invoice, name) for name in _COPIED}}

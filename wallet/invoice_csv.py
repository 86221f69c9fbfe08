"""Invoices as CSV, for accountants. Credit notes have negative amounts, so that a column can be summed."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator

from marketplace.accounts.models import User

from .models import Invoice
from .places import place_name
from .spreadsheets import amount_text, csv_lines, escape_formula

HEADER = (
    *("number", "kind", "date", "corrects", "seller", "sellerTaxId", "buyer", "buyerCountry", "buyerTaxId", "description"),
    *("treatment", "placeOfSupply", "countryConfirmed", "taxRatePercent", "currency", "net", "tax", "gross"),
    *("taxCurrency", "exchangeRate", "taxInTaxCurrency", "commission", "vendorShare", "vendor"),
)
_MONTH = re.compile(r"20[0-9]{2}-(0[1-9]|1[0-2])")


def parse_month(text: str) -> dt.date | None:
    """Return the first day of a month such as `2026-11`, None if it is not one."""
    return dt.date.fromisoformat(f"{text}-01") if _MONTH.fullmatch(text) else None


def invoice_csv_lines(invoices: Iterable[Invoice], *, reader: User | None = None) -> Iterator[str]:
    """Return the lines of a CSV file.

    Args:
        invoices: The documents, as `selectors.invoices` loads them.
        reader: The vendor who gets the file; None for the operator. A vendor sees buyers of their own invoices only.
    """
    return csv_lines(HEADER, (_cells(invoice, with_buyer=reader is None or invoice.seller.vendor_id == reader.pk) for invoice in invoices))


def _cells(invoice: Invoice, *, with_buyer: bool) -> tuple[str, ...]:
    seller, buyer, order = invoice.seller_details, invoice.buyer_details, invoice.order
    sign = 1 if invoice.corrects is None else -1
    # A returned card payment takes only what is needed of the share that was withheld; the rest of the net amount is shown as commission.
    share_minor = order.vendor_share_minor
    if not invoice.journal.order_id:
        (share_minor,) = (part.taken_minor for part in order.reversal_parts.all() if part.ended)
    who = (invoice.buyer_name, *(("", "") if buyer is None else (buyer.country, buyer.tax_id))) if with_buyer else ("", "", "")
    confirmed = "" if buyer is None or not with_buyer else "yes" if buyer.connection_country == buyer.country else "no"
    exchanged = invoice.tax_in_tax_currency_minor
    return (
        escape_formula(invoice.number),
        invoice.kind,
        invoice.date.isoformat(),
        "" if invoice.corrects is None else escape_formula(invoice.corrects.number),
        escape_formula(seller.name),
        escape_formula(seller.tax_id),
        *map(escape_formula, who),
        escape_formula(invoice.description),
        invoice.treatment,
        escape_formula(place_name(invoice.country, invoice.region)),
        confirmed,
        f"{invoice.tax_rate_bp / 100:g}",
        invoice.currency,
        amount_text(sign * invoice.net_minor),
        amount_text(sign * invoice.tax_minor),
        amount_text(sign * invoice.gross_minor),
        invoice.tax_currency,
        "" if invoice.exchange_rate is None else f"{invoice.exchange_rate:f}",
        "" if exchanged is None else amount_text(sign * exchanged),
        amount_text(sign * (invoice.net_minor - share_minor)),
        amount_text(sign * share_minor),
        escape_formula(order.listing.store.slug),
    )

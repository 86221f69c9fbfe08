"""Invoices, credit notes and receipts of payments as PDF."""

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from django.http import HttpResponse

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.money import to_number
from marketplace.storage.responses import attachment
from marketplace.ui.formatting import money
from marketplace.ui.pdf import Grid, PdfDocument, render_pdf

from .card_credit import returned_minor
from .models import BillingDetails, Invoice, TopUp
from .models.invoices import InvoiceKind
from .models.ledger import JournalKind
from .places import INDIA, country_name, place_name
from .selectors import billing_details_at, operator_seller
from .tax import TaxLine, Treatment, tax_lines

_NOTES = {
    Treatment.REVERSE_CHARGE: "Reverse charge: VAT is to be accounted for by the recipient (Article 196 of Directive 2006/112/EC).",
    Treatment.EXPORT: "No tax is charged: the recipient is outside of the territory of the tax.",
}
_MARKETPLACE = "Creative Asset Marketplace"
_EXPORT_FROM_INDIA = "Supply meant for export under letter of undertaking without payment of integrated tax."


def invoice_pdf_response(invoice: Invoice) -> HttpResponse:
    """Return a document as a download that is named by its number."""
    return pdf_download(invoice_document(invoice), f"{invoice.number}.pdf")


def invoice_document(invoice: Invoice) -> PdfDocument:
    """Return the content of an invoice or credit note, which never changes."""
    rows = [(invoice.description, "", money(invoice.net_minor, invoice.currency))]
    rows += [(line.name, f"{line.rate_percent:g} %", money(line.amount_minor, invoice.currency)) for line in tax_lines_of(invoice)]
    rows.append(("Total", "", money(invoice.gross_minor, invoice.currency)))
    grid = Grid(("Item", "Tax rate", f"Amount ({invoice.currency})"), rows)
    seller, logo = invoice.seller_details, _logo_of(invoice.seller_details)
    return PdfDocument(title_of(invoice), seller.name, list(_facts(invoice)), grid, list(_notes(invoice)), logo)


def title_of(invoice: Invoice) -> str:
    """Return the title of a document; India requires the words `Tax invoice`."""
    if invoice.kind == InvoiceKind.CREDIT_NOTE:
        return "Credit note"
    return "Tax invoice" if invoice.seller_details.country == INDIA else "Invoice"


def tax_lines_of(invoice: Invoice) -> list[TaxLine]:
    """Return the lines of tax of a document."""
    return tax_lines(invoice.tax_minor, invoice.treatment, invoice.tax_rate_bp, invoice.country)


def top_up_receipt_response(top_up: TopUp) -> HttpResponse:
    """Return the receipt of a paid top-up as a download that is named by the payment."""
    return pdf_download(top_up_receipt(top_up), f"receipt-{top_up.payment_reference}.pdf")


def top_up_receipt(top_up: TopUp) -> PdfDocument:
    """Return the content of the receipt of a paid top-up, which is not an invoice: tax is due when credit is spent."""
    if top_up.paid_at is None:
        message = f"top-up {top_up.pk} is not paid"
        raise ValueError(message)
    seller, details = operator_seller(), billing_details_at(None, top_up.paid_at)
    payer = billing_details_at(top_up.user, top_up.paid_at)
    paid_at = top_up.paid_at.astimezone(ZoneInfo("UTC" if seller is None else seller.time_zone))
    facts = [("Payment", top_up.payment_reference), ("Date", f"{paid_at:%d %B %Y}")]
    if details is not None:
        facts += _party("Received by", "Recipient's", details)
    facts += [("From", top_up.user.name or top_up.user.email)] if payer is None else _party("From", "Payer's", payer)
    if returned := returned_minor(top_up):
        facts.append(("Returned to the card", money(returned, top_up.currency)))
    amount = money(top_up.amount_minor, top_up.currency)
    grid = Grid(("Item", f"Amount ({top_up.currency})"), [("Prepaid credit", amount), ("Total", amount)])
    closing = ["Tax is included in the price of what the credit is spent on; each purchase has a document of its own."]
    issuer, logo = (_MARKETPLACE, b"") if details is None else (details.name, _logo_of(details))
    return PdfDocument("Receipt", issuer, facts, grid, closing, logo)


def pdf_download(document: PdfDocument, name: str) -> HttpResponse:
    """Return a document as a download with this name."""
    return HttpResponse(render_pdf(document), content_type="application/pdf", headers=attachment(name.replace("/", "-")))


def _logo_of(details: BillingDetails) -> bytes:
    return b"" if details.logo is None else bytes(details.logo.image)


def _facts(invoice: Invoice) -> Iterator[tuple[str, str]]:
    seller, buyer = invoice.seller_details, invoice.buyer_details
    yield ("Number", invoice.number)
    yield ("Date", f"{invoice.date:%d %B %Y}")
    if invoice.corrects is not None:
        yield ("Corrects", f"Invoice {invoice.corrects.number} of {invoice.corrects.date:%d %B %Y}")
    yield from _party("Seller", "Seller's", seller)
    yield from [("Buyer", invoice.buyer_name)] if buyer is None else _party("Buyer", "Buyer's", buyer)
    if invoice.country:
        yield ("Place of supply", place_name(invoice.country, invoice.region))
    if invoice.service_code:
        yield ("Service code", invoice.service_code)


def _party(label: str, whose: str, details: BillingDetails) -> Iterator[tuple[str, str]]:
    """Yield the address, and the tax id if there is one."""
    town = f"{details.postal_code} {details.city}".strip()
    region = place_name(INDIA, details.region) if details.country == INDIA else details.region
    yield (label, ", ".join(part for part in (details.name, details.street, town, region, country_name(details.country)) if part))
    if details.tax_id:
        yield (f"{whose} {'GSTIN' if details.country == INDIA else 'tax ID'}", details.tax_id)


def _was_deleted(user: User, time: datetime) -> bool:
    """Tell whether an account had been deleted by then."""
    return user.deleted and audit.history_of(user).filter(action="user.delete", at__lte=time).exists()


def _notes(invoice: Invoice) -> Iterator[str]:
    if invoice.treatment == Treatment.EXPORT and invoice.seller_details.country == INDIA:
        yield _EXPORT_FROM_INDIA
    elif note := _NOTES.get(Treatment(invoice.treatment)):
        yield note
    if invoice.exchange_rate is not None and invoice.tax_in_tax_currency_minor:
        rate = f"1 {invoice.currency} = {invoice.exchange_rate.normalize():f} {invoice.tax_currency}"
        yield f"Tax in {invoice.tax_currency}: {to_number(invoice.tax_in_tax_currency_minor):,.2f} ({rate})."
    if invoice.kind == InvoiceKind.INVOICE:
        yield "Paid from prepaid credit."
    elif invoice.journal.kind != JournalKind.REFUND:
        yield "A card payment behind the purchase was returned."
    elif invoice.journal.wallet_net_minor == invoice.gross_minor and not _was_deleted(invoice.order.buyer, invoice.journal.at):
        yield "Returned to prepaid credit."
    else:
        yield "The buyer's account is deleted: what was paid by card returns to the card, less what the buyer owes; the rest is paid out on request."

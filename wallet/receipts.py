"""Receipts of purchases, as a page and as a PDF."""

import base64
import hashlib

from django.http import HttpResponse
from django.template.loader import render_to_string

from marketplace.core.money import to_number
from marketplace.ui.pdf import Grid, PdfDocument

from .invoice_documents import pdf_download
from .models import Order
from .models.orders import OrderStatus

STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; }
dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; margin: 1.5rem 0; }
th, td { text-align: right; padding: .5rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
@media print { body { margin: 0; } }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
# The page only uses its inline style.
CONTENT_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
)


def receipt_document(order: Order) -> PdfDocument:
    """Return the content of a receipt."""
    facts = [
        ("Order", str(order.pk)),
        ("Date", f"{order.created_at:%Y-%m-%d %H:%M} UTC"),
        ("Buyer", order.buyer.email),
        ("Store", f"{order.store_name} ({order.listing.store.slug})"),
        ("Asset", str(order.listing_id)),
        ("Status", OrderStatus(order.status).label),
        ("Licence terms", f"version {order.terms.version}, SHA-256 {order.terms.sha256}"),
    ]
    if order.refunded_at is not None:
        facts.append(("Refunded", f"{order.refunded_at:%Y-%m-%d %H:%M} UTC"))
    what = f"{order.title}, licence {order.license_name}" + (f", version {order.version}" if order.version else "")
    if order.upgraded_from is not None:
        what += f", upgrade from {order.upgraded_from.license_name}"
        facts.append((f"Deducted for your {order.upgraded_from.license_name} licence", _amount(order.upgrade_credit_minor, order.currency)))
    if order.discount_minor:
        facts.append(("Discount", _amount(order.discount_minor, order.currency)))
    if order.discount_code:
        # It may not be what the discount comes from: the largest of several applied.
        facts.append(("Discount code given", order.discount_code))
    net = order.price_minor - order.tax_minor
    rows = [(what, _amount(net, order.currency)), (f"Tax, {order.tax_rate_bp / 100:g} %", _amount(order.tax_minor, order.currency))]
    rows.append(("Paid from the wallet", _amount(order.price_minor, order.currency)))
    closing = ["Prices include tax. The licence starts with the purchase; while it lasts, its certificate is in the holder's library."]
    return PdfDocument("Receipt", "Creative Asset Marketplace", facts, Grid(("Item", "Amount"), rows), closing)


def as_html(order: Order) -> str:
    """Return the receipt as a standalone page."""
    return render_to_string("wallet/receipt.html", {"receipt": receipt_document(order), "style": STYLE})


def pdf_response(order: Order) -> HttpResponse:
    """Return the receipt as a PDF to download."""
    return pdf_download(receipt_document(order), f"receipt-{order.pk}.pdf")


def _amount(minor: int, currency: str) -> str:
    return f"{currency} {to_number(minor):,.2f}"

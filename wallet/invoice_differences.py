"""Differences between invoices and what they are for."""

from collections.abc import Iterator

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from .models import Invoice, Journal
from .models.invoices import InvoiceKind
from .models.ledger import JournalKind
from .selectors import COMMIT_DELAY


def invoice_differences() -> Iterator[str]:
    """Yield a sentence for each gap between numbers, each wrong invoice, and each sale or refund that has none after an hour."""
    place = Window(RowNumber(), partition_by=[F("seller"), F("fiscal_year")], order_by=F("sequence").asc())
    for numbered in Invoice.objects.annotate(place=place).order_by().exclude(place=F("sequence")).iterator():
        yield f"invoice {numbered.number} is not the next after the one before"
    amounts = Q(gross_minor=F("order__price_minor"), tax_minor=F("order__tax_minor"), currency=F("order__currency"))
    fitting = Q(journal__order=F("order"), seller=F("order__seller")) & (
        Q(kind=InvoiceKind.INVOICE, journal__kind=JournalKind.SALE)
        | Q(kind=InvoiceKind.CREDIT_NOTE, journal__kind=JournalKind.REFUND, corrects__order=F("order"))
    )
    for invoice in Invoice.objects.exclude(amounts & fitting).order_by().iterator():
        yield f"invoice {invoice.number} is not what its order says"
    missing = Journal.objects.filter(kind__in=(JournalKind.SALE, JournalKind.REFUND), order__seller__isnull=False, invoice__isnull=True)
    for journal in missing.filter(at__lt=timezone.now() - COMMIT_DELAY).order_by().iterator():
        yield f"journal {journal.pk} has no invoice after an hour: run issue_invoices --all"

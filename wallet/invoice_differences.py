"""Differences between invoices and the sales, refunds and disputes that they document."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.utils import timezone

from .invoice_numbers import highest_possible_sequence
from .models import Invoice, Journal, ReversalPart
from .models.invoices import InvoiceKind
from .models.ledger import JournalKind
from .models.orders import OrderStatus
from .selectors import MAX_TRANSACTION_DURATION, charged_back_without_credit_note

# The part of a year's numbers from which on the operator is warned.
_WARN_FROM = 0.9


def invoice_differences() -> Iterator[str]:
    """Yield a sentence for each gap in the numbers, each document that is not what its order says, and each sale, refund or returned payment that has none after an hour."""
    previous = Invoice.objects.filter(seller=OuterRef("seller"), fiscal_year=OuterRef("fiscal_year"), sequence=OuterRef("sequence") - 1)
    for numbered in Invoice.objects.exclude(sequence=1).filter(~Exists(previous)).order_by().iterator():
        yield f"invoice {numbered.number} does not follow the previous number"
    amounts = Q(gross_minor=F("order__price_minor"), tax_minor=F("order__tax_minor"), currency=F("order__currency"))
    returned = ReversalPart.objects.filter(order=OuterRef("order"), reversal__closing_journal=OuterRef("journal"), ended=True)
    fitting = Q(seller=F("order__seller"), vendor=F("order__listing__store__owner")) & (
        Q(kind=InvoiceKind.INVOICE, journal__kind=JournalKind.SALE, journal__order=F("order"))
        | Q(kind=InvoiceKind.CREDIT_NOTE, journal__kind=JournalKind.REFUND, journal__order=F("order"), corrects__order=F("order"))
        | Q(Exists(returned), kind=InvoiceKind.CREDIT_NOTE, order__status=OrderStatus.CHARGED_BACK, corrects__order=F("order"))
    )
    for invoice in Invoice.objects.exclude(amounts & fitting).order_by().iterator():
        yield f"invoice {invoice.number} is not what its order says"
    missing = Journal.objects.filter(kind__in=(JournalKind.SALE, JournalKind.REFUND), order__seller__isnull=False, invoices__isnull=True)
    long_ago = timezone.now() - MAX_TRANSACTION_DURATION
    for journal in missing.filter(at__lt=long_ago).order_by().iterator():
        yield f"journal {journal.pk} has no invoice after an hour: run issue_invoices --all"
    charged_back = charged_back_without_credit_note().filter(order__seller__isnull=False)
    for disputed in charged_back.filter(reversal__closing_journal__at__lt=long_ago).iterator():
        yield f"order {disputed.order_id} was charged back and has no credit note after an hour: run issue_invoices --all"
    yield from _numbers_that_run_out()


def _numbers_that_run_out() -> Iterator[str]:
    """Yield a sentence for each seller whose pattern has little room left for numbers of the newest fiscal year."""
    newest = Invoice.objects.filter(seller=OuterRef("seller")).order_by("-fiscal_year", "-sequence").values("pk")[:1]
    for last in Invoice.objects.filter(pk=Subquery(newest)).select_related("seller__details").order_by():
        room = highest_possible_sequence(last.seller.number_pattern, year=last.fiscal_year, month=last.seller.fiscal_year_month)
        if last.sequence >= _WARN_FROM * room:
            yield f"seller {last.seller} has used {last.sequence:,} of {room:,} numbers by {last.seller.number_pattern}: shorten the pattern"

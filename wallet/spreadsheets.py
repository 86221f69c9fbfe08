"""Lists as CSV."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import StreamingHttpResponse

from marketplace.core.money import to_number
from marketplace.storage.responses import attachment

from .models import LedgerAccount, VendorPayout

PAYOUT_HEADER = ("run", "at", "vendor", "store", "bankAccount", "currency", "amount", "status", "journal")
# Spreadsheets interpret a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    """A file-like object for the csv module that returns what is written."""

    def write(self, text: str) -> str:
        return text


def csv_lines(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield the lines of a CSV file; texts that users write must be guarded by `escape_formula`."""
    writer: Any = csv.writer(_Echo())
    yield writer.writerow(header)
    for row in rows:
        yield writer.writerow(row)


def csv_response(lines: Iterable[str], filename: str) -> StreamingHttpResponse:
    """Return the lines of a CSV file as a response that browsers save under the name."""
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=attachment(filename))


def payout_cells(payout: VendorPayout) -> tuple[str, ...]:
    """Return the line of a payout, which must be loaded with its batch, journal, details, account, owner and store."""
    account = payout.account
    vendor = "" if account.owner is None else account.owner.email
    texts = map(escape_formula, (vendor, store_slug_of(account), payout.details.label))
    at = payout.journal.at.isoformat()
    return (payout.batch.run, at, *texts, account.currency, amount_text(payout.amount_minor), payout.status, str(payout.journal_id))


def escape_formula(text: str) -> str:
    """Return a text that spreadsheets do not interpret as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def store_slug_of(account: LedgerAccount) -> str:
    """Return the slug of a vendor's store."""
    store = getattr(account.owner, "store", None)
    return "" if store is None else store.slug


def amount_text(amount_minor: int) -> str:
    """Return an amount with two decimals."""
    return f"{to_number(amount_minor):.2f}"

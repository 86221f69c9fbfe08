"""Lists of payouts as CSV."""

from dataclasses import dataclass

from marketplace.core.money import to_number

from .models import LedgerAccount, VendorPayout

HEADER = ("vendor", "store", "payoutMethod", "currency", "amount", "journal")
# Spreadsheets interpret a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Line:
    """A line of the list."""

    vendor: str
    store: str
    payout_method: str
    currency: str
    amount_minor: int
    journal: str

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the line."""
        texts = (self.vendor, self.store, self.payout_method)
        return (
            *map(cell, texts),
            self.currency,
            figure(self.amount_minor),
            self.journal,
        )


def cell(text: str) -> str:
    """Return a text that spreadsheets do not interpret as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def line_of(payout: VendorPayout) -> Line:
    """Return the line of a payout, which must be loaded with its journal, account, owner and store."""
    account = payout.account
    vendor = "" if account.owner is None else account.owner.email
    return Line(vendor, store_of(account), payout.payout_method, account.currency, payout.amount_minor, str(payout.journal_id))


def store_of(account: LedgerAccount) -> str:
    """Return the slug of a vendor's store."""
    store = getattr(account.owner, "store", None)
    return "" if store is None else store.slug


def figure(amount_minor: int) -> str:
    """Return an amount with two decimals."""
    return f"{to_number(amount_minor):.2f}"

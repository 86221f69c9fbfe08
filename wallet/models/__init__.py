"""The wallet's tables."""

from .billing import BillingDetails, ExchangeRate, Seller, TaxRate
from .digests import CoveredJournal, LedgerDigest
from .invoices import Invoice
from .ledger import Journal, LedgerAccount, Transfer
from .orders import Order
from .quotes import Quote
from .records import CreditReference, IdempotencyRecord, WalletOwner, WalletSettings
from .vendor_payouts import PayoutBatch, VendorPayout
from .wallet_payouts import WalletPayout

__all__ = [
    "BillingDetails",
    "CoveredJournal",
    "CreditReference",
    "ExchangeRate",
    "IdempotencyRecord",
    "Invoice",
    "Journal",
    "LedgerAccount",
    "LedgerDigest",
    "Order",
    "PayoutBatch",
    "Quote",
    "Seller",
    "TaxRate",
    "Transfer",
    "VendorPayout",
    "WalletOwner",
    "WalletPayout",
    "WalletSettings",
]

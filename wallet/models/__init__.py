"""The wallet's tables."""

from .digests import CoveredJournal, LedgerDigest
from .ledger import Journal, LedgerAccount, Transfer
from .orders import Order
from .quotes import Quote
from .records import CreditReference, IdempotencyRecord, WalletOwner, WalletSettings
from .vendor_payouts import PayoutBatch, VendorPayout
from .wallet_payouts import WalletPayout

__all__ = [
    "CoveredJournal",
    "CreditReference",
    "IdempotencyRecord",
    "Journal",
    "LedgerAccount",
    "LedgerDigest",
    "Order",
    "PayoutBatch",
    "Quote",
    "Transfer",
    "VendorPayout",
    "WalletOwner",
    "WalletPayout",
    "WalletSettings",
]

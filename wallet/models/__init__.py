"""The wallet's tables."""

from .digests import CoveredJournal, LedgerDigest
from .ledger import Journal, LedgerAccount, Transfer
from .orders import Order
from .quotes import Quote
from .records import CreditReference, IdempotencyRecord, WalletOwner, WalletSettings
from .top_ups import FrozenOrder, ProviderEvent, Reversal, TopUp
from .vendor_payouts import VendorPayout
from .wallet_payouts import WalletPayout

__all__ = [
    "CoveredJournal",
    "CreditReference",
    "FrozenOrder",
    "IdempotencyRecord",
    "Journal",
    "LedgerAccount",
    "LedgerDigest",
    "Order",
    "ProviderEvent",
    "Quote",
    "Reversal",
    "TopUp",
    "Transfer",
    "VendorPayout",
    "WalletOwner",
    "WalletPayout",
    "WalletSettings",
]

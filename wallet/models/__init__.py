"""The wallet's tables."""

from .ledger import Journal, LedgerAccount, Transfer
from .orders import Order
from .quotes import Quote
from .records import IdempotencyRecord, WalletOwner, WalletSettings

__all__ = ["IdempotencyRecord", "Journal", "LedgerAccount", "Order", "Quote", "Transfer", "WalletOwner", "WalletSettings"]

"""The wallet's tables."""

from .credits import CreditReference
from .ledger import Journal, LedgerAccount, Transfer
from .orders import Order
from .payouts import Payout
from .quotes import Quote
from .records import IdempotencyRecord, WalletOwner, WalletSettings
from .seals import LedgerSeal, SealedJournal
from .withdrawals import Withdrawal

__all__ = [
    "CreditReference",
    "IdempotencyRecord",
    "Journal",
    "LedgerAccount",
    "LedgerSeal",
    "Order",
    "Payout",
    "Quote",
    "SealedJournal",
    "Transfer",
    "WalletOwner",
    "WalletSettings",
    "Withdrawal",
]

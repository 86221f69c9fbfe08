"""Money in the admin: credit a wallet, pay one out, refund an order, list payouts; the rest is looked at."""

from .ledger import JournalAdmin, TransferAdmin
from .orders import OrderAdmin
from .payouts import PayoutAdmin
from .wallets import WalletAdmin
from .withdrawals import WithdrawalAdmin

__all__ = ["JournalAdmin", "OrderAdmin", "PayoutAdmin", "TransferAdmin", "WalletAdmin", "WithdrawalAdmin"]

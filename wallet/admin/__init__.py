"""Money in the admin: credit a wallet, pay one out, refund an order, list payouts; everything else is read-only."""

from .ledger import JournalAdmin, TransferAdmin
from .orders import OrderAdmin
from .top_ups import ProviderEventAdmin, ReversalAdmin, TopUpAdmin
from .vendor_payouts import VendorPayoutAdmin
from .wallet_payouts import WalletPayoutAdmin
from .wallets import WalletAdmin

__all__ = [
    "JournalAdmin",
    "OrderAdmin",
    "ProviderEventAdmin",
    "ReversalAdmin",
    "TopUpAdmin",
    "TransferAdmin",
    "VendorPayoutAdmin",
    "WalletAdmin",
    "WalletPayoutAdmin",
]

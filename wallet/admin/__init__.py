"""Money in the admin: credit a wallet, pay one out, refund an order, settle payouts; everything else is read-only."""

from .ledger import JournalAdmin, TransferAdmin
from .orders import OrderAdmin
from .vendor_payouts import PayoutBatchAdmin, VendorPayoutAdmin
from .wallet_payouts import WalletPayoutAdmin
from .wallets import WalletAdmin

__all__ = ["JournalAdmin", "OrderAdmin", "PayoutBatchAdmin", "TransferAdmin", "VendorPayoutAdmin", "WalletAdmin", "WalletPayoutAdmin"]

"""Money in the admin: credit a wallet, pay one out, refund an order, settle payouts; everything else is read-only."""

from .invoices import ExchangeRateAdmin, InvoiceAdmin, SellerAdmin, TaxRateAdmin
from .ledger import JournalAdmin, TransferAdmin
from .orders import OrderAdmin
from .vendor_payouts import PayoutBatchAdmin, VendorPayoutAdmin
from .wallet_payouts import WalletPayoutAdmin
from .wallets import WalletAdmin

__all__ = [
    "ExchangeRateAdmin",
    "InvoiceAdmin",
    "JournalAdmin",
    "OrderAdmin",
    "PayoutBatchAdmin",
    "SellerAdmin",
    "TaxRateAdmin",
    "TransferAdmin",
    "VendorPayoutAdmin",
    "WalletAdmin",
    "WalletPayoutAdmin",
]

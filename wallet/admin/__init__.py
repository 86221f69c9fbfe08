"""Money in the admin: decisions on wallets, orders, top-ups, refunds and payouts, and the sellers and rates; the ledger is read-only."""

from .approvals import ApprovalAdmin
from .invoices import ExchangeRateAdmin, InvoiceAdmin, SellerAdmin, TaxRateAdmin
from .ledger import JournalAdmin, TransferAdmin
from .orders import OrderAdmin
from .payout_batches import PayoutBatchAdmin
from .refund_requests import RefundRequestAdmin
from .top_ups import CardReversalAdmin, ProviderEventAdmin, TopUpAdmin
from .vendor_payouts import VendorPayoutAdmin
from .wallet_payouts import WalletPayoutAdmin
from .wallets import WalletAdmin

__all__ = [
    "ApprovalAdmin",
    "CardReversalAdmin",
    "ExchangeRateAdmin",
    "InvoiceAdmin",
    "JournalAdmin",
    "OrderAdmin",
    "PayoutBatchAdmin",
    "ProviderEventAdmin",
    "RefundRequestAdmin",
    "SellerAdmin",
    "TaxRateAdmin",
    "TopUpAdmin",
    "TransferAdmin",
    "VendorPayoutAdmin",
    "WalletAdmin",
    "WalletPayoutAdmin",
]

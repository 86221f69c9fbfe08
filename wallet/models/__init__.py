"""The wallet's tables."""

from .approvals import Approval
from .billing import BillingDetails, ExchangeRate, Logo, Seller, TaxRate
from .digests import CoveredJournal, LedgerDigest
from .invoices import Invoice
from .ledger import Journal, LedgerAccount, Transfer
from .orders import Order
from .quotes import Quote
from .records import CreditReference, WalletOwner, WalletSettings
from .refund_requests import RefundRequest
from .top_ups import CardReversal, ProviderEvent, ReversalPart, TopUp
from .vendor_payouts import PayoutBatch, VendorPayout
from .wallet_payouts import WalletPayout

__all__ = [
    "Approval",
    "BillingDetails",
    "CardReversal",
    "CoveredJournal",
    "CreditReference",
    "ExchangeRate",
    "Invoice",
    "Journal",
    "LedgerAccount",
    "LedgerDigest",
    "Logo",
    "Order",
    "PayoutBatch",
    "ProviderEvent",
    "Quote",
    "RefundRequest",
    "ReversalPart",
    "Seller",
    "TaxRate",
    "TopUp",
    "Transfer",
    "VendorPayout",
    "WalletOwner",
    "WalletPayout",
    "WalletSettings",
]

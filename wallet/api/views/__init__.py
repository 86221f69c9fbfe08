"""The wallet's endpoints."""

from .approvals import ApprovalViewSet
from .caller import CallerViewSet
from .earnings import EarningsViewSet
from .history import HistoryViewSet
from .invoices import BillingViewSet, InvoiceViewSet
from .refund_requests import RefundRequestViewSet
from .top_ups import TopUpViewSet
from .wallet import WalletViewSet

__all__ = [
    "ApprovalViewSet",
    "BillingViewSet",
    "CallerViewSet",
    "EarningsViewSet",
    "HistoryViewSet",
    "InvoiceViewSet",
    "RefundRequestViewSet",
    "TopUpViewSet",
    "WalletViewSet",
]

"""The wallet's endpoints."""

from .earnings import EarningsViewSet
from .history import HistoryViewSet
from .invoices import BillingViewSet, InvoiceViewSet
from .refund_requests import RefundRequestViewSet
from .top_ups import TopUpViewSet
from .wallet import WalletViewSet

__all__ = ["BillingViewSet", "EarningsViewSet", "HistoryViewSet", "InvoiceViewSet", "RefundRequestViewSet", "TopUpViewSet", "WalletViewSet"]

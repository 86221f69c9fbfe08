"""The wallet's endpoints."""

from .earnings import EarningsViewSet
from .history import HistoryViewSet
from .invoices import BillingViewSet, InvoiceViewSet
from .wallet import WalletViewSet

__all__ = ["BillingViewSet", "EarningsViewSet", "HistoryViewSet", "InvoiceViewSet", "WalletViewSet"]

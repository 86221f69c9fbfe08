"""The wallet's endpoints."""

from .earnings import EarningsViewSet
from .history import HistoryViewSet
from .wallet import WalletViewSet

__all__ = ["EarningsViewSet", "HistoryViewSet", "WalletViewSet"]

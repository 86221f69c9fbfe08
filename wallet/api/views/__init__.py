"""The wallet's endpoints."""

from .history import HistoryViewSet
from .wallet import WalletViewSet

__all__ = ["HistoryViewSet", "WalletViewSet"]

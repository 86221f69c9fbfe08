"""The wallet's endpoints."""

from .earnings import EarningsViewSet
from .history import HistoryViewSet
from .top_ups import TopUpViewSet
from .wallet import WalletViewSet

__all__ = ["EarningsViewSet", "HistoryViewSet", "TopUpViewSet", "WalletViewSet"]

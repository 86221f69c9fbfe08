"""Money: the ledger, orders, spending, refunds."""

from django.apps import AppConfig


class WalletConfig(AppConfig):
    """Prepaid wallets on a double-entry ledger."""

    name = "wallet"

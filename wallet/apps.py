"""Money: the ledger, orders, spending, refunds."""

from django.apps import AppConfig

from marketplace.ui.formatting import register_statuses

from .guards import LEDGER


class WalletConfig(AppConfig):
    """Prepaid wallets on a double-entry ledger."""

    name = "wallet"

    def ready(self) -> None:
        """Guard the ledger after every migration, and check at start that it is guarded."""
        register_statuses(good=("Paid", "Completed"), waiting=("Waiting",), bad=("Refused",))
        LEDGER.register(self)

"""Money: the ledger, orders, spending, refunds."""

from django.apps import AppConfig

from marketplace.ui.formatting import register_statuses

from .guards import LEDGER


class WalletConfig(AppConfig):
    """Prepaid wallets on a double-entry ledger."""

    name = "wallet"

    def ready(self) -> None:
        """Register the statuses, and the ledger's triggers, which are created after each migration and checked at start-up."""
        register_statuses(good=("Paid", "Completed"), waiting=("Waiting", "Prepared", "Exported"), bad=("Refused", "Bounced"))
        LEDGER.register(self)

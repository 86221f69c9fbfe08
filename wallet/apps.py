"""Money: the ledger, orders, spending, refunds."""

from django.apps import AppConfig

from marketplace.ui.formatting import register_statuses

from .triggers import LEDGER_TRIGGERS


class WalletConfig(AppConfig):
    """Prepaid wallets on a double-entry ledger."""

    name = "wallet"

    def ready(self) -> None:
        """Register the colours and labels of statuses, and the ledger's triggers, which are created after each migration and checked at start-up."""
        from . import checks, jobs  # noqa: F401, PLC0415 - they register themselves; settings and apps are there only now

        register_statuses(
            good=("Paid", "Completed", "Succeeded", "Kept"),
            waiting=("Waiting", "Prepared", "Exported", "Disputed", "Open", "InReview"),
            labels={"InReview": "In review"},
            bad=("Refused", "Declined", "Bounced", "Failed", "Returned", "ChargedBack"),
        )
        LEDGER_TRIGGERS.register(self)

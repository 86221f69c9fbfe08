"""Money: the ledger, orders, spending, refunds."""

from django.apps import AppConfig
from django.core.checks import Tags, register
from django.db.models.signals import post_migrate

from .checks import ledger_is_guarded
from .guards import install_after_migrate


class WalletConfig(AppConfig):
    """Prepaid wallets on a double-entry ledger."""

    name = "wallet"

    def ready(self) -> None:
        """Guard the ledger after every migration, and register the check that asserts it."""
        post_migrate.connect(install_after_migrate, sender=self, dispatch_uid="wallet.guards")
        register(ledger_is_guarded, Tags.database)

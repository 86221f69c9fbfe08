"""Exports and deletion of accounts, gauges, and management commands for the operators of an installation."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from marketplace.accounts.events import AccountDeleting, AccountEffectsRequested
from marketplace.core.events import subscribe
from marketplace.monitoring.health import monitor
from marketplace.monitoring.metrics import register


class OperationsConfig(AppConfig):
    """Imports every app; only the pages and the demo import it."""

    name = "marketplace.operations"
    label = "operations"

    def ready(self) -> None:
        """Register checks, gauges and probes, and subscribe to the deletion of accounts."""
        from . import deletion, gauges, installation  # noqa: PLC0415 - their models are there only now

        post_migrate.connect(installation.record_installation, sender=self)
        subscribe(AccountDeleting, deletion.anonymise)
        subscribe(AccountEffectsRequested, deletion.add_effects)
        register(gauges.jobs)
        register(gauges.webhooks)
        monitor.register("objects", gauges.probe_objects)
        monitor.register("worker", gauges.probe_workers)

"""What the people who run the service need: gauges, and commands that look after the whole installation."""

from django.apps import AppConfig

from marketplace.accounts.events import AccountDeleted, AccountEnding
from marketplace.core.events import subscribe
from marketplace.monitoring.health import monitor
from marketplace.monitoring.metrics import register


class OperationsConfig(AppConfig):
    """Sees every app; no app sees it."""

    name = "marketplace.operations"
    label = "operations"

    def ready(self) -> None:
        """Measure what waits in the database, watch for workers, and erase what is personal with a deleted account."""
        from . import gauges, people  # noqa: PLC0415 - their models are there only now

        subscribe(AccountDeleted, people.anonymise)
        subscribe(AccountEnding, people.add_effects)
        register(gauges.jobs)
        register(gauges.webhooks)
        monitor.register("objects", gauges.probe_objects)
        monitor.register("worker", gauges.probe_workers)

"""What the people who run the service need: gauges, and commands that look after the whole installation."""

from django.apps import AppConfig

from marketplace.core.health import monitor
from marketplace.core.observing.metrics import register


class OperationsConfig(AppConfig):
    """Sees every app; no app sees it."""

    name = "marketplace.operations"
    label = "operations"

    def ready(self) -> None:
        """Measure what waits in the database, and watch for workers."""
        from . import readings  # noqa: PLC0415 - its models are there only now

        register(readings.jobs)
        register(readings.replica)
        monitor.register("worker", readings.probe_workers)

"""Monitoring, enabled by the settings."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from .queries import watch_queries

# Settings and the modules that they enable; their libraries are in the `observability` dependency group.
OPTIONAL = {"OTEL_ENDPOINT": "marketplace.monitoring.tracing", "SENTRY_DSN": "marketplace.monitoring.crashes"}


class MonitoringConfig(AppConfig):
    """Logs, metrics, traces and health."""

    name = "marketplace.monitoring"
    label = "monitoring"

    def ready(self) -> None:
        """Time database queries, and start tracing and crash reports."""
        watch_queries()
        for setting, module_path in OPTIONAL.items():
            if getattr(settings, setting):
                _start(setting, module_path)


def _start(setting: str, module_path: str) -> None:
    try:
        module = import_module(module_path)
    except ModuleNotFoundError as error:
        raise ImproperlyConfigured(f"{setting} needs libraries that are not installed: uv sync --group observability.") from error
    module.start()

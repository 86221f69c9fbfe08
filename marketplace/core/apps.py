"""The ground floor: what every app shares. Imports no other app."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from .db.guards import Guards
from .observing.queries import watch_queries

# Settings, and what each starts: modules whose libraries are a dependency group of their own.
OPTIONAL = {"OTEL_ENDPOINT": "marketplace.core.observing.tracing", "SENTRY_DSN": "marketplace.core.observing.crashes"}
AUDIT_LOG = Guards(app="core", sentence="the audit log only grows", append_only=("core_auditentry",))


class CoreConfig(AppConfig):
    """Errors, money, transitions, scopes, audit entries, events, files."""

    name = "marketplace.core"
    label = "core"
    verbose_name = "Marketplace"

    def ready(self) -> None:
        """Guard the audit log after every migration, check at start that it is guarded, and watch what is sent to databases."""
        AUDIT_LOG.keep(self)
        watch_queries()
        for setting, part in OPTIONAL.items():
            if getattr(settings, setting):
                _start(setting, part)


def _start(setting: str, part: str) -> None:
    try:
        module = import_module(part)
    except ModuleNotFoundError as error:
        raise ImproperlyConfigured(f"{setting} needs libraries that are not installed: uv sync --group observability.") from error
    module.start()

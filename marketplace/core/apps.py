"""The ground floor: what every app shares. Imports no other app."""

from django.apps import AppConfig

from .guards import Guards
from .health import monitor
from .observing.queries import watch_queries
from .replica import has_replica, probe

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
        if has_replica():
            monitor.register("replica", probe)

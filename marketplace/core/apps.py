"""The base of all apps; it imports no other app."""

from django.apps import AppConfig

from .triggers import TriggerSet

AUDIT_LOG_TRIGGERS = TriggerSet(app="core", message="the audit log is append-only", append_only=("core_auditentry",))


class CoreConfig(AppConfig):
    """Errors, money, transitions, scopes, audit entries, events."""

    name = "marketplace.core"
    label = "core"
    verbose_name = "Marketplace"

    def ready(self) -> None:
        AUDIT_LOG_TRIGGERS.register(self)

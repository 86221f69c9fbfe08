"""The ground floor: what every app shares. Imports no other app."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    """Errors, money, transitions, scopes, audit entries, events, files."""

    name = "marketplace.core"
    label = "core"
    verbose_name = "Marketplace"

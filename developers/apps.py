"""Reviewed developer access: applications, apps, scopes, keys, tokens."""

from django.apps import AppConfig

from marketplace.ui.formatting import register_statuses


class DevelopersConfig(AppConfig):
    """Developer access to the API."""

    name = "developers"

    def ready(self) -> None:
        """Register system checks, the colours of statuses, the origins that may call, and appeals."""
        from . import (  # noqa: PLC0415 - Django loads checks and models once the apps are ready
            checks,  # noqa: F401 - registers the checks
            origins,  # noqa: F401 - receives the signal of django-cors-headers
        )
        from .services import appeals  # noqa: PLC0415 - the same

        register_statuses(
            good=("Approved", "Active", "Granted", "Delivered"),
            waiting=("Pending", "MoreInfoNeeded", "Dormant", "On its way", "Failing"),
            bad=("Rejected", "Suspended", "Withdrawn", "Not granted", "Failed", "Disabled"),
            labels={"MoreInfoNeeded": "More information needed", "Pending": "In review"},
        )
        appeals.connect()

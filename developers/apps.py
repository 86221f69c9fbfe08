"""Reviewed developer access: applications, apps, scopes, keys, tokens."""

from django.apps import AppConfig


class DevelopersConfig(AppConfig):
    """Who may call the API, and for what."""

    name = "developers"

    def ready(self) -> None:
        """Register the start-up checks."""
        from . import checks  # noqa: F401, PLC0415 - Django loads checks once the apps are ready

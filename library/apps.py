"""What buyers own: licences, packages, signed downloads."""

from django.apps import AppConfig


class LibraryConfig(AppConfig):
    """Licences and downloads."""

    name = "library"

    def ready(self) -> None:
        """Listen to what the catalog publishes."""
        from . import jobs  # noqa: F401, PLC0415 - models cannot be imported before every app is there

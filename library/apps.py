"""The library: licences, packages and signed downloads."""

from django.apps import AppConfig


class LibraryConfig(AppConfig):
    """Licences and downloads."""

    name = "library"

    def ready(self) -> None:
        from . import jobs  # noqa: F401, PLC0415 - models cannot be imported before every app is there

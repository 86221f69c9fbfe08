"""The library: licences, packages and signed downloads."""

from django.apps import AppConfig

from marketplace.core.triggers import TriggerSet

POSITION_TRIGGERS = TriggerSet(
    app="library", message="a licence keeps its position in the status lists", append_only=("library_statuslistposition",)
)


class LibraryConfig(AppConfig):
    """Licences and downloads."""

    name = "library"

    def ready(self) -> None:
        POSITION_TRIGGERS.register(self)
        from . import jobs  # noqa: F401, PLC0415 - models cannot be imported before every app is there

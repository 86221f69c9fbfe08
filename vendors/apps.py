"""The vendors app: vendor profiles, and the API and pages with which listings are created and published."""

from django.apps import AppConfig


class VendorsConfig(AppConfig):
    """Vendors and publishing."""

    name = "vendors"

    def ready(self) -> None:
        from . import checks  # noqa: F401, PLC0415 - registers on import, and needs the settings
        from .services import appeals  # noqa: PLC0415 - models load before `ready`, and after this module

        appeals.connect()

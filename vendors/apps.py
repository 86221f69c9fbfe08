"""The vendors app: vendor profiles, and the API and pages with which listings are created and published."""

from django.apps import AppConfig
from django.db.models.signals import post_delete


class VendorsConfig(AppConfig):
    """Vendors and publishing."""

    name = "vendors"

    def ready(self) -> None:
        from . import checks, jobs  # noqa: F401, PLC0415 - they register on import, and need the settings and the models
        from .services import appeals  # noqa: PLC0415 - models load before `ready`, and after this module
        from .services.uploads import delete_parts  # noqa: PLC0415 - as above

        appeals.connect()
        post_delete.connect(delete_parts, sender="vendors.Upload", dispatch_uid="vendors.delete_parts")

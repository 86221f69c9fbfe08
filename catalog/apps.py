"""What is for sale: categories, listings, files, manifests, search, editorial review."""

from django.apps import AppConfig

from .api import cors


class CatalogConfig(AppConfig):
    """The catalog and its review."""

    name = "catalog"

    def ready(self) -> None:
        """Open the public addresses to scripts of any origin, and watch the taxonomy."""
        cors.connect()
        from .services import taxonomy  # noqa: F401, PLC0415 - its receivers need the models, which load after this module

"""What is for sale: categories, listings, files, manifests, search, editorial review."""

from django.apps import AppConfig

from .api import cors


class CatalogConfig(AppConfig):
    """The catalog and its review."""

    name = "catalog"

    def ready(self) -> None:
        """Open the public addresses to scripts of any origin."""
        cors.connect()

"""Who sells: vendor profiles and the endpoints that listings are made with."""

from django.apps import AppConfig

from catalog.events import ListingPublished
from marketplace.core.events import subscribe


class VendorsConfig(AppConfig):
    """Vendors and publishing."""

    name = "vendors"

    def ready(self) -> None:
        """Subscribe to what the catalog tells."""
        from .services.manifests import on_publication  # noqa: PLC0415 - models can be imported once the apps are ready

        subscribe(ListingPublished, on_publication)

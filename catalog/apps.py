"""What is for sale: categories, listings, files, manifests, search, editorial review."""

from django.apps import AppConfig

from developers import categories
from marketplace.ui.formatting import register_statuses

from .api import cors


class CatalogConfig(AppConfig):
    """The catalog and its review."""

    name = "catalog"

    def ready(self) -> None:
        """Open the public addresses to scripts of any origin, tell the packages below which categories there are, and apps what happens."""
        from . import webhooks  # noqa: PLC0415 - models load before `ready`, and after this module
        from .selectors import category_names  # noqa: PLC0415 - the same

        register_statuses(good=("Published",), waiting=("PendingReview",), labels={"PendingReview": "In review"})

        webhooks.connect()
        cors.connect()
        categories.register_source(category_names)

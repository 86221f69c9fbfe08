"""The catalog: categories, listings, files, manifests, search and editorial review."""

from django.apps import AppConfig

from developers import categories
from marketplace.ui.formatting import register_statuses

from .triggers import CATALOG_TRIGGERS


class CatalogConfig(AppConfig):
    """The catalog and its review."""

    name = "catalog"

    def ready(self) -> None:
        from . import webhooks  # noqa: PLC0415 - models load before `ready`, and after this module
        from .selectors.taxonomy import category_names  # noqa: PLC0415 - the same
        from .services import appeals  # noqa: PLC0415 - the same

        register_statuses(good=("Published", "Running"), waiting=("PendingReview", "Planned"), labels={"PendingReview": "In review"})

        webhooks.connect()
        appeals.connect()
        CATALOG_TRIGGERS.register(self)
        categories.register_source(category_names)

"""Pages that span apps."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """Start page, documentation, storefront, buyers' pages and the dashboard's overview."""

    name = "marketplace.pages"
    label = "pages"

    def ready(self) -> None:
        """Listen to sign-ins."""
        from . import sign_ins  # noqa: F401, PLC0415 - models cannot be imported before every app is there

"""Pages that span apps."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Start page, documentation, storefront, buyers' pages and the dashboard's overview."""

    name = "marketplace.web"
    label = "web"

    def ready(self) -> None:
        """Connect the receiver of `user_logged_in`."""
        from .shop import currency  # noqa: F401, PLC0415 - models cannot be imported before every app is there

"""Pages that span apps."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """Landing page and dashboard."""

    name = "marketplace.pages"
    label = "pages"

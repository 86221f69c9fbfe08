"""App configurations of the review app and the admin site."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig

from marketplace.ui.formatting import register_statuses


class ReviewConfig(AppConfig):
    """Decisions, queues, claims, saved replies and appeals."""

    name = "marketplace.review"
    label = "review"

    def ready(self) -> None:
        register_statuses(good=("Accepted",), bad=("Dismissed",))


class MarketplaceAdminConfig(AdminConfig):
    """The admin with our site."""

    default_site = "marketplace.review.site.MarketplaceAdminSite"

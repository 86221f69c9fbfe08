"""App configurations of the review app and the admin site."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ReviewConfig(AppConfig):
    """Decisions, queues, claims and saved replies."""

    name = "marketplace.review"
    label = "review"


class MarketplaceAdminConfig(AdminConfig):
    """The admin with our site."""

    default_site = "marketplace.review.site.MarketplaceAdminSite"

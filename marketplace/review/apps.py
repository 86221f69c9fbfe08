"""Review, and our site in place of `django.contrib.admin`."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ReviewConfig(AppConfig):
    """Decisions, queues, claims and saved replies."""

    name = "marketplace.review"
    label = "review"


class MarketplaceAdminConfig(AdminConfig):
    """The admin on our site; by name, since a site needs the models, which are not there yet."""

    default_site = "marketplace.review.site.MarketplaceAdminSite"

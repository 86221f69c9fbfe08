"""Stands for `django.contrib.admin` among the installed apps, with our own site."""

from django.contrib.admin.apps import AdminConfig


class MarketplaceAdminConfig(AdminConfig):
    """The admin on our site; by name, since a site needs the models, which are not there yet."""

    default_site = "marketplace.core.admin_site.MarketplaceAdminSite"

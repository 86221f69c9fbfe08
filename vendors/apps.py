"""Who sells: vendor profiles and the endpoints that listings are made with."""

from django.apps import AppConfig


class VendorsConfig(AppConfig):
    """Vendors and publishing."""

    name = "vendors"

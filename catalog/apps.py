"""What is for sale: categories, listings, files, manifests, search, editorial review."""

from django.apps import AppConfig


class CatalogConfig(AppConfig):
    """The catalog and its review."""

    name = "catalog"

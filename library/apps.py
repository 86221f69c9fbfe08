"""What buyers own: licences, packages, signed downloads."""

from django.apps import AppConfig


class LibraryConfig(AppConfig):
    """Licences and downloads."""

    name = "library"

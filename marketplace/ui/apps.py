"""Configuration of the ui app."""

from django.apps import AppConfig


class UiConfig(AppConfig):
    """Template tags."""

    name = "marketplace.ui"
    label = "ui"

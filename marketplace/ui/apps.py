"""What pages, mails and documents are made of."""

from django.apps import AppConfig


class UiConfig(AppConfig):
    """Template tags."""

    name = "marketplace.ui"
    label = "ui"

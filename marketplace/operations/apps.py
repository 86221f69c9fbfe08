"""What the people who run the service need: metrics, and commands that look after the whole installation."""

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """Sees every app; no app sees it."""

    name = "marketplace.operations"
    label = "operations"

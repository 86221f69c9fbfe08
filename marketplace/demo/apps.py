"""The demonstration shop."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    """The quickstart and the demo content."""

    name = "marketplace.demo"
    label = "demo"

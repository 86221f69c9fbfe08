"""The demonstration shop."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    """The quickstart and what it sells."""

    name = "marketplace.demo"
    label = "demo"

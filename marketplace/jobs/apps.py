"""Background work."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """The queue, its worker and its schedule."""

    name = "marketplace.jobs"
    label = "jobs"
    verbose_name = "Background work"

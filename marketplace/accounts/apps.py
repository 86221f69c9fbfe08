"""Accounts: the user model and sign-in."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Users sign in by email address."""

    name = "marketplace.accounts"
    label = "accounts"

    def ready(self) -> None:
        from . import second_factor  # noqa: F401, PLC0415 - connects its receiver

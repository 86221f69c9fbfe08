"""Signed-in browsers, API clients with a token, and management commands."""

from collections.abc import Sequence
from datetime import timedelta
from io import StringIO
from typing import Any

from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from developers.models import AccessToken
from developers.services.credentials import issue_token_without_app
from developers.services.spending import LimitValues
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope

from .factories import PASSWORD, PLENTY, UserFactory

EVERYTHING = frozenset(Scope)


def signed_in(user: User | None = None, *, checked: bool = False, confirmed: bool = False) -> Client:
    """Return the browser of someone who has just signed in.

    Args:
        user: Who signed in; somebody new unless given.
        checked: Whether the CSRF check applies, which the test client leaves out.
        confirmed: Whether the password of the factory was just given again.
    """
    client = Client(enforce_csrf_checks=checked)
    client.force_login(user or UserFactory())
    if confirmed:
        client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def personal_token(user: User, scopes: frozenset[Scope] = EVERYTHING, limits: Sequence[LimitValues] = PLENTY) -> tuple[AccessToken, str]:
    """Return a personal token of the user's that may spend plenty, unless other limits are given, and its secret."""
    ends = timezone.now() + timedelta(days=1)
    return issue_token_without_app(
        user=user, name="laptop", scopes=scopes, expires_at=ends, actor=user, password_confirmed=True, limits=limits
    )


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def said(*words: str, **options: Any) -> str:
    """Return what a management command says, but for its progress."""
    out = StringIO()
    call_command(*words, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()

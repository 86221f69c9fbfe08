"""People in front of a browser, and programs with a token."""

from datetime import timedelta

from django.test import Client
from django.utils import timezone

from developers.models import AccessToken
from developers.services.credentials import issue_personal_token
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope

from .factories import PLENTY, UserFactory

EVERYTHING = frozenset(Scope)


def signed_in(user: User | None = None, *, checked: bool = False) -> Client:
    """Return the browser of someone who has just signed in; `checked` enforces the CSRF check that the test client leaves out."""
    client = Client(enforce_csrf_checks=checked)
    client.force_login(user or UserFactory())
    return client


def personal_token(user: User, scopes: frozenset[Scope] = EVERYTHING) -> tuple[AccessToken, str]:
    """Return a personal token of the user's that may spend plenty, and its secret."""
    ends = timezone.now() + timedelta(days=1)
    return issue_personal_token(
        user=user, name="laptop", scopes=scopes, expires_at=ends, actor=user, password_confirmed=True, limits=PLENTY
    )


def bearer(secret: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {secret}"}

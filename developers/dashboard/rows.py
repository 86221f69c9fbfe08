"""Keys and tokens as the tables of the dashboard show them."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from marketplace.core.scopes import format_scopes, parse_scopes

from ..models import AccessToken, ApiKey, App
from ..usage.selectors import is_dormant


@dataclass(frozen=True)
class CredentialRow:
    """A live key or token.

    Args:
        name: What its owner calls it.
        hint: Its last characters.
        scopes: What it may do now.
        created: When it was made.
        expires: When it ends by itself.
        last_used: About when it was last used.
        rotate_url: Where its successor is made.
        revoke_url: Where it is revoked.
        calls_per_minute: How often it may call, where that is its own.
        dormant: Whether it has not been used for long.
    """

    name: str
    hint: str
    scopes: list[str]
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    rotate_url: str
    revoke_url: str
    calls_per_minute: int | None = None
    dormant: bool = False


def key_row(key: ApiKey, app: App) -> CredentialRow:
    """Return the row of an app's key."""
    return CredentialRow(
        name=key.name,
        hint=key.last_four,
        scopes=_scopes_now(key, app),
        created=key.created_at,
        expires=key.expires_at,
        last_used=key.last_used_at,
        rotate_url=reverse("key-rotate", args=[app.pk, key.pk]),
        revoke_url=reverse("key-revoke", args=[app.pk, key.pk]),
        calls_per_minute=key.calls_per_minute,
        dormant=is_dormant(key),
    )


def tool_token_row(token: AccessToken, app: App) -> CredentialRow:
    """Return the row of an app's tool token."""
    return _token_row(token, _scopes_now(token, app), "tool-token", app.pk, token.pk)


def token_row(token: AccessToken) -> CredentialRow:
    """Return the row of a personal token."""
    return _token_row(token, format_scopes(parse_scopes(token.scope)).split(), "token", token.pk)


def _token_row(token: AccessToken, scopes: list[str], route: str, *place: object) -> CredentialRow:
    return CredentialRow(
        name=token.name,
        hint=token.hint,
        scopes=scopes,
        created=token.created,
        expires=token.expires,
        last_used=token.last_used_at,
        rotate_url=reverse(f"{route}-rotate", args=place),
        revoke_url=reverse(f"{route}-revoke", args=place),
    )


def _scopes_now(credential: ApiKey | AccessToken, app: App) -> list[str]:
    return format_scopes(parse_scopes(credential.scope) & app.scopes).split()

"""Keys and tokens as the tables of the dashboard show them."""

from dataclasses import dataclass
from datetime import datetime

from marketplace.core.scopes import format_scopes, parse_scopes

from ..models import ApiKey, App
from ..usage.selectors import is_dormant
from .credentials import Credential, Kind


@dataclass(frozen=True)
class CredentialRow:
    """A live key or token.

    Args:
        name: What its owner calls it.
        hint: Its last characters.
        scopes: What it may do now.
        created: When it was created.
        expires: When it expires.
        last_used: About when it was last used.
        rotate_url: Where its successor is created.
        revoke_url: Where it is revoked.
        calls_per_minute: The rate limit of a key; None for a token.
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


def credential_row(credential: Credential, kind: Kind, app: App | None = None) -> CredentialRow:
    """Return the row of an app's key or tool token, or of a personal token."""
    scopes, key = parse_scopes(credential.scope), credential if isinstance(credential, ApiKey) else None
    return CredentialRow(
        name=credential.name,
        hint=credential.hint,
        scopes=format_scopes(scopes if app is None else scopes & app.scopes).split(),
        created=credential.created,
        expires=credential.expires,
        last_used=credential.last_used_at,
        rotate_url=kind.url("rotate", credential, app),
        revoke_url=kind.url("revoke", credential, app),
        calls_per_minute=None if key is None else key.calls_per_minute,
        dormant=key is not None and is_dormant(key),
    )

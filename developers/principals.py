"""The caller of a request, resolved from its credential."""

import uuid
from dataclasses import dataclass
from typing import cast

from rest_framework.request import Request

from marketplace.accounts.models import User
from marketplace.core.access import CredentialKind
from marketplace.core.scopes import Scope

from .models import AccessToken, ApiKey, App, FirstPartyToken
from .secrets import Prefix

_PREFIXES = {
    CredentialKind.API_KEY: Prefix.API_KEY,
    CredentialKind.PERSONAL: Prefix.PERSONAL_TOKEN,
    CredentialKind.OAUTH: Prefix.ACCESS_TOKEN,
    CredentialKind.MCP: Prefix.MCP_TOKEN,
    CredentialKind.FIRST_PARTY: Prefix.FIRST_PARTY_TOKEN,
    CredentialKind.CONSOLE: Prefix.FIRST_PARTY_TOKEN,
}


@dataclass(frozen=True)
class Principal:
    """The caller of one request: `request.auth` of every authenticated API view."""

    # For a key the app's developer.
    user: User
    # None for a user's own token.
    app: App | None
    # Those that the credential has now.
    scopes: frozenset[Scope]
    kind: CredentialKind
    credential: ApiKey | AccessToken | FirstPartyToken

    @property
    def app_id(self) -> uuid.UUID | None:
        """The calling app's id."""
        return None if self.app is None else self.app.id

    @property
    def requester_id(self) -> uuid.UUID:
        """The id under which idempotency keys are saved: the app's; without an app, that of the token, which its rotations share, or the user's."""
        if self.app is not None:
            return self.app.id
        return self.credential.spender_id if isinstance(self.credential, AccessToken) else self.user.pk

    @property
    def prefix(self) -> Prefix:
        """The beginning of the credential's secret."""
        return _PREFIXES[self.kind]


def app_of(request: Request) -> App:
    """Return the app of the key that a request carries, for operations whose access rule accepts only keys."""
    return cast("App", principal_of(request).app)


def principal_of(request: Request) -> Principal:
    """Return the caller of a request, for operations whose access rule requires a credential."""
    return cast("Principal", request.auth)

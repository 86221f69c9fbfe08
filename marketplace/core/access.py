"""Access rules of API operations: scope and kinds of credential. Every API view declares them, or the service does not start."""

from dataclasses import dataclass
from enum import StrEnum

from .scopes import Scope


class CredentialKind(StrEnum):
    """How a caller proves who they are."""

    API_KEY = "api_key"
    PERSONAL = "personal"
    OAUTH = "oauth"
    MCP = "mcp"
    FIRST_PARTY = "first_party"
    CONSOLE = "console"


BEARER_KINDS = frozenset({CredentialKind.PERSONAL, CredentialKind.OAUTH, CredentialKind.FIRST_PARTY})
# What goes into `X-Api-Key`: a key, and the short token that stands for one in the developer console.
KEY_KINDS = frozenset({CredentialKind.API_KEY, CredentialKind.CONSOLE})


@dataclass(frozen=True)
class Access:
    """Scope and kinds of credential that an operation takes; public when the scope is None."""

    scope: Scope | None
    kinds: frozenset[CredentialKind] = frozenset()

    @property
    def public(self) -> bool:
        """Tell whether no credential is needed."""
        return self.scope is None


PUBLIC = Access(None)


def api_key_only(scope: Scope) -> Access:
    """Demand an API key with the scope."""
    return Access(scope, KEY_KINDS)


def bearer_only(scope: Scope) -> Access:
    """Demand a bearer token with the scope."""
    return Access(scope, BEARER_KINDS)


def key_or_bearer(scope: Scope) -> Access:
    """Demand an API key or a bearer token with the scope."""
    return Access(scope, BEARER_KINDS | KEY_KINDS)

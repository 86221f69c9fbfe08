"""Access rules of API operations: scope and kinds of credential. A system check reports a view that declares none."""

from dataclasses import dataclass
from enum import StrEnum

from .scopes import Scope


class CredentialKind(StrEnum):
    """The kinds of credential. Pages of this site call the API with `FIRST_PARTY` tokens for the user, with `CONSOLE` ones in place of an app's key."""

    API_KEY = "api_key"
    PERSONAL = "personal"
    OAUTH = "oauth"
    MCP = "mcp"
    FIRST_PARTY = "first_party"
    CONSOLE = "console"


# MCP tokens are accepted at /mcp only.
BEARER_KINDS = frozenset({CredentialKind.PERSONAL, CredentialKind.OAUTH, CredentialKind.FIRST_PARTY})
# Sent in `X-Api-Key`: API keys and the short-lived tokens of the developer console.
KEY_KINDS = frozenset({CredentialKind.API_KEY, CredentialKind.CONSOLE})


@dataclass(frozen=True)
class Access:
    """The scope and the kinds of credential that an operation requires.

    `scope` is None if no particular scope is required; without `kinds` the operation is public.
    """

    scope: Scope | None
    kinds: frozenset[CredentialKind] = frozenset()

    @property
    def public(self) -> bool:
        """Whether the operation needs no credential."""
        return not self.kinds


PUBLIC = Access(None)
ANY_CREDENTIAL = Access(None, BEARER_KINDS | KEY_KINDS)
# For operations about the key's app itself.
ANY_API_KEY = Access(None, KEY_KINDS)


def api_key_only(scope: Scope) -> Access:
    """Require an API key with the scope."""
    return Access(scope, KEY_KINDS)


def bearer_only(scope: Scope) -> Access:
    """Require a bearer token with the scope."""
    return Access(scope, BEARER_KINDS)


def key_or_bearer(scope: Scope) -> Access:
    """Require an API key or a bearer token with the scope."""
    return Access(scope, BEARER_KINDS | KEY_KINDS)

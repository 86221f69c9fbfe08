"""The kinds of credential in the dashboard: API keys, MCP tokens and personal tokens."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from marketplace.accounts.pages import SignedInRequest
from marketplace.core.scopes import Scope, format_scopes, parse_scopes

from .. import selectors
from ..audiences import Audience
from ..models import AccessToken, ApiKey, App
from ..services.credentials import issue_api_key, issue_mcp_token, issue_token_without_app, revoke_api_key, revoke_token
from ..services.rotation import rotate_api_key, rotate_token
from ..usage.selectors import is_dormant
from .credential_forms import KeyForm, MCPTokenForm, TokenForm

Credential = ApiKey | AccessToken


@dataclass(frozen=True)
class CredentialPages:
    """What the pages of one kind of credential need to know about it."""

    # The prefix of its route names.
    route: str
    # Its name in headings, and the shorter one in sentences.
    name: str
    short_name: str
    # Returns the credentials of an app, or a user's own.
    all_of: Callable[[Any], QuerySet[Any]]
    # Returns the form for a new one; called with the data, the app or user, and the request.
    form: Callable[[Any, Any, SignedInRequest], Any]
    issue: Callable[..., tuple[Credential, str]]
    rotate: Callable[..., tuple[Credential, str]]
    revoke: Callable[..., bool]
    # The argument of `rotate` and `revoke` for it.
    argument: str

    def row(self, credential: Credential, app: App | None = None) -> dict[str, Any]:
        """Return the row of a table: an active key or MCP token of an app, or a personal token, with its current scopes."""
        scopes, args = parse_scopes(credential.scope), [credential.pk] if app is None else [app.pk, credential.pk]
        return {
            "credential": credential,
            "scopes": format_scopes(scopes if app is None else scopes & app.scopes).split(),
            "rotate_url": reverse(f"{self.route}-rotate", args=args),
            "revoke_url": reverse(f"{self.route}-revoke", args=args),
            "dormant": isinstance(credential, ApiKey) and is_dormant(credential),
        }


KEYS = CredentialPages(
    route="key",
    name="API key",
    short_name="key",
    all_of=selectors.keys_of,
    form=lambda data, app, request: KeyForm(data, spends=Scope.WALLET_SPEND in app.scopes, request=request),
    issue=issue_api_key,
    rotate=rotate_api_key,
    revoke=revoke_api_key,
    argument="key",
)
MCP_TOKENS = CredentialPages(
    route="mcp-token",
    name="MCP token",
    short_name="MCP token",
    all_of=selectors.mcp_tokens_of,
    form=lambda data, app, request: MCPTokenForm(data, spends=Scope.WALLET_SPEND in app.scopes, request=request),
    issue=issue_mcp_token,
    rotate=rotate_token,
    revoke=revoke_token,
    argument="token",
)
PERSONAL_TOKENS = CredentialPages(
    route="token",
    name="personal token",
    short_name="token",
    all_of=selectors.tokens_without_app_of,
    form=lambda data, _user, request: TokenForm(data, request=request),
    issue=issue_token_without_app,
    rotate=rotate_token,
    revoke=revoke_token,
    argument="token",
)
ASSISTANT_TOKENS = replace(
    PERSONAL_TOKENS,
    name="token for an AI assistant",
    form=lambda data, _user, request: TokenForm(data, request=request, audience=Audience.MCP),
)

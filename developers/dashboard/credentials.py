"""What differs between the credentials that users make in the dashboard: API keys, tool tokens and personal tokens."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from marketplace.core.scopes import Scope, parse_scopes

from .. import selectors
from ..audiences import Audience
from ..models import AccessToken, ApiKey, App
from ..services.credentials import issue_api_key, issue_mcp_token, issue_personal_token, revoke_api_key, revoke_token
from ..services.rotation import rotate_api_key, rotate_token
from .credential_forms import KeyForm, TokenForm, ToolTokenForm
from .next_steps import first_call

Credential = ApiKey | AccessToken


@dataclass(frozen=True)
class Kind:
    """One kind of credential, as its pages need it.

    Args:
        route: The prefix of its route names.
        noun: Its name in headings.
        word: Its name in sentences.
        all_of: Returns the credentials of an app, or a user's own.
        form: Returns the form for a new one; called with the data, the app or user, and the check of the password.
        issue: The service that creates one.
        rotate: The service that creates a successor.
        revoke: The service that revokes one.
        subject: The name of the services' argument for it.
        spends: Tells whether a successor could spend money.
    """

    route: str
    noun: str
    word: str
    all_of: Callable[[Any], QuerySet[Any]]
    form: Callable[[Any, Any, Callable[[str], bool]], Any]
    issue: Callable[..., tuple[Credential, str]]
    rotate: Callable[..., tuple[Credential, str]]
    revoke: Callable[..., bool]
    subject: str
    spends: Callable[[Any], bool]

    def url(self, action: str, credential: Credential, app: App | None) -> str:
        """Return the address of a page about one credential."""
        return reverse(f"{self.route}-{action}", args=[credential.pk] if app is None else [app.pk, credential.pk])


def first_call_context(app: App) -> dict[str, str]:
    """Return the addresses that the page of a new credential suggests for a first call."""
    return {"first_call": first_call(app), "mcp_url": Audience.MCP.uri}


KEYS = Kind(
    "key",
    "API key",
    "key",
    all_of=selectors.keys_of,
    form=lambda data, _app, check: KeyForm(data, spends=False, password_is_right=check),
    issue=issue_api_key,
    rotate=rotate_api_key,
    revoke=revoke_api_key,
    subject="key",
    spends=lambda _key: False,
)
TOOL_TOKENS = Kind(
    "tool-token",
    "tool token",
    "tool token",
    all_of=selectors.tool_tokens_of,
    form=lambda data, app, check: ToolTokenForm(data, spends=Scope.WALLET_SPEND in app.scopes, password_is_right=check),
    issue=issue_mcp_token,
    rotate=rotate_token,
    revoke=revoke_token,
    subject="token",
    spends=lambda token: Scope.WALLET_SPEND in token.application.scopes,
)
PERSONAL_TOKENS = Kind(
    "token",
    "personal token",
    "token",
    all_of=selectors.personal_tokens_of,
    form=lambda data, _user, check: TokenForm(data, password_is_right=check),
    issue=issue_personal_token,
    rotate=rotate_token,
    revoke=revoke_token,
    subject="token",
    spends=lambda token: Scope.WALLET_SPEND in parse_scopes(token.scope),
)

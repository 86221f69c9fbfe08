"""Credentials of every kind, and the conditions under which the access matrices try them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from developers.models import AccessToken, ApiKey, App, FirstPartyToken
from developers.secrets import Prefix, new_secret
from developers.services.applications import withdraw_approval
from developers.services.apps import suspend_app
from developers.services.credentials import issue_api_key, revoke_api_key, revoke_token
from marketplace.accounts.models import User
from marketplace.core.access import KEY_KINDS, CredentialKind
from tests.factories import AppFactory, UserFactory

from .cases import console_token, page_token, token_of

PREFIXES = {
    CredentialKind.PERSONAL: Prefix.PERSONAL_TOKEN,
    CredentialKind.OAUTH: Prefix.ACCESS_TOKEN,
    CredentialKind.MCP: Prefix.MCP_TOKEN,
    CredentialKind.API_KEY: Prefix.API_KEY,
    CredentialKind.FIRST_PARTY: Prefix.FIRST_PARTY_TOKEN,
    CredentialKind.CONSOLE: Prefix.FIRST_PARTY_TOKEN,
}


@dataclass
class Held:
    """A credential with what can be done to it."""

    kind: CredentialKind
    row: ApiKey | AccessToken | FirstPartyToken
    secret: str
    user: User
    app: App | None

    @property
    def headers(self) -> dict[str, str]:
        """The header that carries it."""
        return {"x-api-key": self.secret} if self.kind in KEY_KINDS else {"authorization": f"Bearer {self.secret}"}


def hold(kind: CredentialKind) -> Held:
    """Make a credential of this kind that carries all that it can."""
    if kind == CredentialKind.API_KEY:
        app = AppFactory()
        key, secret = issue_api_key(app=app, name="matrix", actor=app.user)
        return Held(kind, key, secret, app.user, app)
    if kind == CredentialKind.CONSOLE:
        page, secret = console_token(AppFactory())
        return Held(kind, page, secret, page.user, page.app)
    if kind == CredentialKind.FIRST_PARTY:
        page, secret = page_token(UserFactory())
        return Held(kind, page, secret, page.user, None)
    token, secret = token_of(kind.value)
    return Held(kind, token, secret, token.user, token.application)


def nothing(_held: Held) -> None:
    """Leave it as it is: it carries every scope that its kind can carry."""


def own_scopes_gone(held: Held) -> None:
    """Let it have been made with no scope."""
    type(held.row).objects.filter(pk=held.row.pk).update(scope="")


def grant_narrowed(held: Held) -> None:
    assert held.app is not None
    App.objects.filter(pk=held.app.pk).update(granted_scopes="")


def revoked(held: Held) -> None:
    """Revoke it; a page's token is removed."""
    if isinstance(held.row, ApiKey):
        revoke_api_key(key=held.row, actor=None)
    elif isinstance(held.row, AccessToken):
        revoke_token(token=held.row, actor=None)
    else:
        held.row.delete()


def expired(held: Held) -> None:
    ends = {"expires" if isinstance(held.row, AccessToken) else "expires_at": timezone.now() - timedelta(seconds=1)}
    type(held.row).objects.filter(pk=held.row.pk).update(**ends)


def app_suspended(held: Held) -> None:
    assert held.app is not None
    suspend_app(app=held.app, reason="Abuse", actor=UserFactory())


def approval_withdrawn(held: Held) -> None:
    assert held.app is not None
    application = held.app.developer.developer_applications.create(what="x", why="y", status="Approved", submitted_at=timezone.now())
    withdraw_approval(application=application, reason="Abuse", actor=UserFactory())


def user_inactive(held: Held) -> None:
    User.objects.filter(pk=held.user.pk).update(is_active=False)


def garbage(held: Held) -> None:
    """Send a secret of the right form that was never issued."""
    held.secret = new_secret(PREFIXES[held.kind])


SCOPED: dict[Callable[[Held], None], bool] = {nothing: True, own_scopes_gone: False, grant_narrowed: False}
DEAD = (revoked, expired, app_suspended, approval_withdrawn, user_inactive, garbage)
OF_APPS = {grant_narrowed, app_suspended, approval_withdrawn}
APP_KINDS = KEY_KINDS | {CredentialKind.OAUTH, CredentialKind.MCP}
CASES = [(kind, condition) for kind in CredentialKind for condition in (*SCOPED, *DEAD) if condition not in OF_APPS or kind in APP_KINDS]

"""Applications, apps and scope reviews to decide on, and tokens of every kind."""

from datetime import datetime, timedelta

from django.test import Client
from django.utils import timezone

from developers.models import AccessToken, App, FirstPartyToken, ScopeReview
from developers.secrets import Prefix, digest_of, new_secret
from developers.services.first_party import PAGE_SCOPES, issue_console_token, issue_page_token
from marketplace.accounts.models import User
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from tests.callers import EVERYTHING, personal_token, signed_in
from tests.factories import AppFactory, UserFactory


def open_review(app: App) -> ScopeReview:
    return ScopeReview.objects.get(app=app, status="Pending")


def page_token(user: User, scopes: frozenset[Scope] = PAGE_SCOPES) -> tuple[FirstPartyToken, str]:
    return issue_page_token(session_key=session_of(signed_in(user)), scopes=scopes, actor=user)


def console_token(app: App) -> tuple[FirstPartyToken, str]:
    """Return what the console of a new session gets for the app of its developer."""
    return issue_console_token(session_key=session_of(signed_in(app.developer)), app=app, actor=app.developer)


def session_of(browser: Client) -> str:
    key = browser.session.session_key
    assert key is not None
    return key


def token_of(kind: str, user: User | None = None, scopes: frozenset[Scope] = EVERYTHING) -> tuple[AccessToken, str]:
    """Return a token of any kind; those that come by OAuth are written as it writes them."""
    user = user or UserFactory()
    if kind == "personal":
        return personal_token(user, scopes)
    secret = new_secret(Prefix.ACCESS_TOKEN if kind == "oauth" else Prefix.MCP_TOKEN)
    token = AccessToken.objects.create(
        user=user,
        application=AppFactory(),
        kind=kind,
        token_checksum=digest_of(secret),
        scope=format_scopes(scopes & APP_SCOPES),
        expires=timezone.now() + timedelta(hours=1),
    )
    return token, secret


def in_days(days: float) -> datetime:
    return timezone.now() + timedelta(days=days)

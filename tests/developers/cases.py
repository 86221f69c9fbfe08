"""What is decided on, and the tokens of our own pages."""

from django.test import Client

from developers.models import App, FirstPartyToken, ScopeReview
from developers.services.first_party import PAGE_SCOPES, issue_console_token, issue_page_token
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope


def open_review(app: App) -> ScopeReview:
    """Return the app's request for scopes that waits."""
    return ScopeReview.objects.get(app=app, status="Pending")


def signed_in(user: User) -> Client:
    """Return a browser in which the user has just signed in."""
    browser = Client()
    browser.force_login(user)
    return browser


def page_token(user: User, scopes: frozenset[Scope] = PAGE_SCOPES) -> tuple[FirstPartyToken, str]:
    """Return what a page of a new session gets, and its secret."""
    return issue_page_token(session_key=session_of(signed_in(user)), scopes=scopes, actor=user)


def console_token(app: App) -> tuple[FirstPartyToken, str]:
    """Return what the console of a new session gets for the app of its developer."""
    return issue_console_token(session_key=session_of(signed_in(app.developer)), app=app, actor=app.developer)


def session_of(browser: Client) -> str:
    """Return the key of a browser's session."""
    key = browser.session.session_key
    assert key is not None
    return key

"""An app with a redirect URI, and a user in front of a browser."""

import pytest
from django.test import Client

from developers.models import App
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope, format_scopes
from tests.factories import AppFactory, UserFactory

from .parties import CALLBACK, LOOPBACK, Party


@pytest.fixture
def app(db: None) -> App:
    """An approved app that may read and spend."""
    granted = format_scopes({Scope.CATALOG_READ, Scope.ACCOUNT_READ, Scope.WALLET_SPEND})
    return AppFactory(name="Font finder", redirect_uris=f"{CALLBACK} {LOOPBACK}", granted_scopes=granted)


@pytest.fixture
def user(db: None) -> User:
    return UserFactory()


@pytest.fixture
def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def party(app: App, browser: Client) -> Party:
    return Party(app, browser)

"""People in front of the pages."""

from collections.abc import Callable

import pytest
from django.test import Client

from developers.models import App
from developers.services.applications import approve_application, submit_application
from developers.services.apps import ScopeDecision, create_app, decide_scopes
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope
from tests.factories import UserFactory


@pytest.fixture
def browse() -> Callable[..., Client]:
    """Sign someone in: `browse(user)`; `checked` enforces the CSRF check that the test client leaves out."""

    def make(user: User | None = None, *, checked: bool = False) -> Client:
        client = Client(enforce_csrf_checks=checked)
        client.force_login(user or UserFactory(), backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


@pytest.fixture
def reviewer(db: None) -> User:
    """Someone who decides."""
    return UserFactory(is_staff=True, is_superuser=True)


@pytest.fixture
def developer(reviewer: User) -> User:
    """A verified developer."""
    user = UserFactory()
    application = submit_application(user=user, what="A font picker", why="It reads the catalog", actor=user)
    approve_application(application=application, reason="Makes sense", actor=reviewer)
    return user


@pytest.fixture
def app(developer: User, reviewer: User) -> App:
    """An approved app of the developer: one scope granted, one refused."""
    wanted = {Scope.CATALOG_READ: "To read manifests", Scope.WALLET_SPEND: "To buy in one click"}
    app = create_app(user=developer, name="Font finder", purpose="Finds fonts", scopes=wanted, actor=developer)
    decisions = {Scope.CATALOG_READ: ScopeDecision(granted=True), Scope.WALLET_SPEND: ScopeDecision(granted=False, note="Not yet, please")}
    return decide_scopes(review=app.scope_reviews.get(), decisions=decisions, note="Good start", actor=reviewer)

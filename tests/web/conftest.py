"""Fixtures of users of the pages."""

import pytest

from developers.models import App
from developers.services.apps import create_app
from developers.services.scopes import ScopeDecision, decide_scopes
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope


@pytest.fixture
def app(developer: User, reviewer: User) -> App:
    """An approved app of the developer: one scope granted, one refused."""
    wanted = {Scope.CATALOG_READ: "To read manifests", Scope.WALLET_SPEND: "To buy in one click"}
    app = create_app(user=developer, name="Font finder", purpose="Finds fonts", scopes=wanted, actor=developer)
    decisions = {Scope.CATALOG_READ: ScopeDecision(granted=True), Scope.WALLET_SPEND: ScopeDecision(granted=False, note="Not yet, please")}
    return decide_scopes(review=app.scope_reviews.get(), decisions=decisions, note="Good start", actor=reviewer)

"""People in front of the pages."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connections
from playwright.sync_api import Browser, Page

from developers.models import App
from developers.services.apps import create_app
from developers.services.scopes import ScopeDecision, decide_scopes
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope
from tests.callers import signed_in
from tests.screenshots.driving import SIZES, patient


@pytest.fixture
def app(developer: User, reviewer: User) -> App:
    """An approved app of the developer: one scope granted, one refused."""
    wanted = {Scope.CATALOG_READ: "To read manifests", Scope.WALLET_SPEND: "To buy in one click"}
    app = create_app(user=developer, name="Font finder", purpose="Finds fonts", scopes=wanted, actor=developer)
    decisions = {Scope.CATALOG_READ: ScopeDecision(granted=True), Scope.WALLET_SPEND: ScopeDecision(granted=False, note="Not yet, please")}
    return decide_scopes(review=app.scope_reviews.get(), decisions=decisions, note="Good start", actor=reviewer)


@pytest.fixture
def window(chromium: Browser, live_server: Any, settings: Any) -> Iterator[Callable[..., Page]]:
    """Open a window: `window("phone")`, `window("desktop", user=…, java_script_enabled=False)`."""
    settings.BASE_URL = live_server.url

    def opened(size: str, user: User | None = None, **options: Any) -> Page:
        context = patient(chromium.new_context(viewport=SIZES[size], has_touch=size == "phone", **options))
        if user is not None:
            session = signed_in(user).cookies["sessionid"].value
            context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        return context.new_page()

    yield opened
    for context in chromium.contexts:
        context.close()
    connections.close_all()

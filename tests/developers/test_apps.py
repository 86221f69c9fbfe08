"""Apps: create, suspend, reinstate, reject."""

from typing import Any

import pytest

from developers import bounds, selectors
from developers.errors import DeveloperNotApproved, ScopeNotAvailable, TooManyApps
from developers.models import App
from developers.services.applications import submit_application, withdraw_approval
from developers.services.apps import create_app, reinstate_app, suspend_app
from developers.services.credentials import issue_api_key
from developers.services.scopes import reject_app
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

ASKED = {Scope.CATALOG_READ: "To read manifests", Scope.WALLET_SPEND: "To buy"}


def create(user: User, scopes: Any = None, **changes: str) -> App:
    words = {"name": "Picker", "purpose": "Picks fonts", **changes}
    return create_app(user=user, scopes=ASKED if scopes is None else scopes, actor=user, **words)


def test_nobody_without_an_approval_creates_an_app_or_has_one_reinstated(developer: User, reviewer: User) -> None:
    waiting = submit_application(user=UserFactory(), what="x", why="y", actor=reviewer).user
    app = AppFactory(user=developer)
    withdraw_approval(application=developer.developer_applications.get(), reason="Abuse", actor=reviewer)
    for user in (UserFactory(), waiting, reviewer, developer):
        with pytest.raises(DeveloperNotApproved):
            create(user)
    with pytest.raises(DeveloperNotApproved):
        reinstate_app(app=app, reason="Fine", actor=reviewer)
    assert App.objects.get().status == "Suspended"


def test_app_cannot_ask_for_vendor_manage(developer: User) -> None:
    with pytest.raises(ScopeNotAvailable) as refusal:
        create(developer, {**ASKED, Scope.VENDOR_MANAGE: "To publish"})
    assert refusal.value.members == {"scopes": ["vendor:manage"]}
    assert not App.objects.exists()


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"name": " "}, "#/name"),
        ({"purpose": ""}, "#/purpose"),
        ({"scopes": {}}, "#/scopes"),
        ({"scopes": {Scope.CATALOG_READ: " "}}, "#/scopes/catalog:read"),
    ],
)
def test_invalid_field_of_an_app_is_refused(changes: dict[str, Any], pointer: str, developer: User) -> None:
    with pytest.raises(InvalidInput) as refusal:
        create(developer, **changes)
    assert [error["pointer"] for error in refusal.value.members["errors"]] == [pointer]
    assert not App.objects.exists()


def test_number_of_apps_of_a_developer_is_limited(developer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_APPS", 1)
    AppFactory(user=developer, status="Rejected", granted_scopes="")
    create(developer)
    with pytest.raises(TooManyApps):
        create(developer)


def test_new_app_waits_with_each_requested_scope_and_its_reason(developer: User) -> None:
    app = App.objects.get(pk=create(developer).pk)
    assert (app.status, app.granted_scopes) == ("Pending", "")
    assert (app.client_type, app.client_secret) == (App.CLIENT_PUBLIC, "")
    assert {(row.scope, row.reason, row.granted) for row in app.scope_rows.filter(granted=None)} == {
        ("catalog:read", "To read manifests", None),
        ("wallet:spend", "To buy", None),
    }
    assert selectors.open_scope_review_of(app) is not None
    assert [(entry.action, entry.to_state) for entry in history_of(app)] == [("app.request_scopes", ""), ("app.create", "Pending")]


def test_reinstated_app_has_its_grant_and_its_keys_again(developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    key, _ = issue_api_key(app=app, name="laptop", actor=developer)
    with pytest.raises(InvalidInput):
        suspend_app(app=app, reason=" ", actor=reviewer)
    suspended = suspend_app(app=app, reason="Abuse", actor=reviewer)
    assert (suspended.status, suspended.granted_scopes, suspended.status_reason) == ("Suspended", "catalog:read", "Abuse")
    back = reinstate_app(app=app, reason="Explained", actor=reviewer)
    assert (back.status, back.granted_scopes, back.status_reason) == ("Approved", "catalog:read", "Explained")
    key.refresh_from_db()
    assert key.is_active
    assert [(entry.action, entry.reason) for entry in history_of(app)] == [("app.reinstate", "Explained"), ("app.suspend", "Abuse")]


def test_rejected_app_has_every_scope_refused_with_the_reason(developer: User, reviewer: User) -> None:
    app = create(developer)
    with pytest.raises(InvalidInput):
        reject_app(app=app, reason=" ", actor=reviewer)
    app = reject_app(app=app, reason="Not our kind", actor=reviewer)
    assert (app.status, app.granted_scopes, app.status_reason) == ("Rejected", "", "Not our kind")
    assert {row.granted for row in app.scope_rows.all()} == {False}
    assert selectors.open_scope_review_of(app) is None
    assert app.scope_reviews.get().note == "Not our kind"
    with pytest.raises(InvalidTransition):
        reject_app(app=app, reason="No", actor=reviewer)

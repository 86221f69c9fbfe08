"""Apps: create, suspend, reinstate, reject."""

from typing import Any

import pytest
from django.core import mail

from developers import bounds, selectors
from developers.errors import DeveloperNotApproved, ScopeNotAvailable, TooManyApps
from developers.models import App
from developers.services.applications import withdraw_approval
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


def test_user_without_an_application_cannot_create_an_app() -> None:
    with pytest.raises(DeveloperNotApproved):
        create(UserFactory())
    assert not App.objects.exists()


def test_applicant_who_waits_cannot_create_an_app(application: Any) -> None:
    with pytest.raises(DeveloperNotApproved):
        create(application.user)


def test_superuser_without_an_approval_cannot_create_an_app(reviewer: User) -> None:
    with pytest.raises(DeveloperNotApproved):
        create(reviewer)


def test_withdrawn_developer_cannot_create_an_app(developer: User, reviewer: User) -> None:
    withdraw_approval(application=developer.developer_applications.get(), reason="Abuse", actor=reviewer)
    with pytest.raises(DeveloperNotApproved):
        create(developer)


def test_app_cannot_ask_for_vendor_manage(developer: User) -> None:
    with pytest.raises(ScopeNotAvailable) as refusal:
        create(developer, {**ASKED, Scope.VENDOR_MANAGE: "To publish"})
    assert refusal.value.members == {"scopes": ["vendor:manage"]}
    assert not App.objects.exists()


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"name": " "}, "#/name"),
        ({"name": "n" * 121}, "#/name"),
        ({"name": "two\r\nSubject: lines"}, "#/name"),
        ({"purpose": ""}, "#/purpose"),
        ({"scopes": {}}, "#/scopes"),
        ({"scopes": {Scope.CATALOG_READ: " "}}, "#/scopes/catalog:read"),
        ({"scopes": {Scope.CATALOG_READ: "x" * 2001}}, "#/scopes/catalog:read"),
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
    app = create(developer)
    assert (app.status, app.granted_scopes) == ("Pending", "")
    assert {(row.scope, row.reason, row.granted) for row in app.scope_rows.filter(granted=None)} == {
        ("catalog:read", "To read manifests", None),
        ("wallet:spend", "To buy", None),
    }
    assert selectors.open_review_of(app) is not None
    assert [entry.action for entry in history_of(app)] == ["app.request_scopes", "app.create"]


def test_new_app_has_no_client_secret(developer: User) -> None:
    app = App.objects.get(pk=create(developer).pk)
    assert (app.client_type, app.client_secret) == (App.CLIENT_PUBLIC, "")


@pytest.mark.parametrize("decide", [suspend_app, reinstate_app, reject_app])
def test_deciding_without_a_reason_is_refused(decide: Any, developer: User, reviewer: User) -> None:
    with pytest.raises(InvalidInput):
        decide(app=AppFactory(user=developer), reason=" ", actor=reviewer)


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Suspended"])
def test_suspending_what_is_not_approved_is_refused(status: str, developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, status=status, granted_scopes="")
    with pytest.raises(InvalidTransition):
        suspend_app(app=app, reason="Abuse", actor=reviewer)


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Approved"])
def test_reinstating_what_is_not_suspended_is_refused(status: str, developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, status=status, granted_scopes="")
    with pytest.raises(InvalidTransition):
        reinstate_app(app=app, reason="Fine", actor=reviewer)


@pytest.mark.parametrize("status", ["Approved", "Rejected", "Suspended"])
def test_rejecting_what_is_not_pending_is_refused(status: str, developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, status=status, granted_scopes="")
    with pytest.raises(InvalidTransition):
        reject_app(app=app, reason="No", actor=reviewer)


def test_reinstating_an_app_of_a_withdrawn_developer_is_refused(developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer)
    withdraw_approval(application=developer.developer_applications.get(), reason="Abuse", actor=reviewer)
    with pytest.raises(DeveloperNotApproved):
        reinstate_app(app=app, reason="Fine", actor=reviewer)


def test_reinstated_app_has_its_grant_and_its_keys_again(developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    key, _ = issue_api_key(app=app, name="laptop", actor=developer)
    suspended = suspend_app(app=app, reason="Abuse", actor=reviewer)
    assert (suspended.status, suspended.granted_scopes, suspended.status_reason) == ("Suspended", "catalog:read", "Abuse")
    back = reinstate_app(app=app, reason="Explained", actor=reviewer)
    assert (back.status, back.granted_scopes, back.status_reason) == ("Approved", "catalog:read", "Explained")
    key.refresh_from_db()
    assert key.is_active
    assert [(entry.action, entry.reason) for entry in history_of(app)] == [("app.reinstate", "Explained"), ("app.suspend", "Abuse")]


def test_rejected_app_has_every_scope_refused_with_the_reason(developer: User, reviewer: User) -> None:
    app = reject_app(app=create(developer), reason="Not our kind", actor=reviewer)
    assert (app.status, app.granted_scopes, app.status_reason) == ("Rejected", "", "Not our kind")
    assert {row.granted for row in app.scope_rows.all()} == {False}
    assert selectors.open_review_of(app) is None
    assert app.scope_reviews.get().note == "Not our kind"


def test_suspension_is_mailed(developer: User, reviewer: User, django_capture_on_commit_callbacks: Any) -> None:
    app = AppFactory(user=developer, name="Picker")
    with django_capture_on_commit_callbacks(execute=True):
        suspend_app(app=app, reason="Too many downloads", actor=reviewer)
    (sent,) = mail.outbox
    assert (sent.subject, sent.to) == ("Picker is suspended", [developer.email])
    assert "Too many downloads" in sent.body


def test_apps_of_a_user_are_only_their_own_newest_first(developer: User) -> None:
    AppFactory()
    first, second = AppFactory(user=developer), AppFactory(user=developer)
    assert list(selectors.apps_of(developer)) == [second, first]

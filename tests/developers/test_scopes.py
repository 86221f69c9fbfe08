"""Scopes of an app: decided one by one, asked for again, taken back."""

from typing import Any

import pytest
from django.contrib.admin import site
from django.core import mail

from developers import selectors
from developers.admin.apps import AppAdmin
from developers.errors import (
    AppNotApproved,
    DecisionsIncomplete,
    DeveloperNotApproved,
    ScopeAlreadyGranted,
    ScopeNotGranted,
    ScopeReviewOpen,
)
from developers.models import App, AppScope, WebhookEvent
from developers.services.applications import withdraw_approval
from developers.services.apps import create_app, suspend_app
from developers.services.credentials import issue_api_key
from developers.services.scopes import ScopeDecision, decide_scopes, narrow_scopes, reject_app, request_scopes
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory

from .cases import open_review

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

YES, NO = ScopeDecision(granted=True), ScopeDecision(granted=False, note="Not needed for that")
BOTH = {Scope.CATALOG_READ: YES, Scope.WALLET_SPEND: YES}
NARROW = {Scope.CATALOG_READ: YES, Scope.WALLET_SPEND: NO}


@pytest.fixture
def app(developer: User) -> App:
    """A pending app that asks for two scopes."""
    scopes = {Scope.CATALOG_READ: "To read manifests", Scope.WALLET_SPEND: "To buy"}
    return create_app(user=developer, name="Picker", purpose="Picks fonts", scopes=scopes, actor=developer)


@pytest.mark.parametrize(
    ("decisions", "missing", "unknown"),
    [
        ({Scope.CATALOG_READ: YES}, ["wallet:spend"], []),
        ({**BOTH, Scope.LIBRARY_READ: YES}, [], ["library:read"]),
    ],
)
def test_decisions_that_do_not_fit_the_request_are_refused(
    decisions: Any, missing: list[str], unknown: list[str], app: App, reviewer: User
) -> None:
    with pytest.raises(DecisionsIncomplete) as refusal:
        decide_scopes(review=open_review(app), decisions=decisions, note="", actor=reviewer)
    assert refusal.value.members == {"missing": missing, "unknown": unknown}
    app.refresh_from_db()
    assert (app.status, app.granted_scopes, app.scope_rows.filter(granted=None).count()) == ("Pending", "", 2)


def test_second_decision_on_a_scope_request_is_refused_and_does_not_apply_to_a_later_one(app: App, developer: User, reviewer: User) -> None:
    earlier = open_review(app)
    decide_scopes(review=earlier, decisions=NARROW, note="First", actor=reviewer)
    with pytest.raises(InvalidTransition):
        decide_scopes(review=earlier, decisions=BOTH, note="Second", actor=UserFactory())
    assert app.scope_reviews.get().note == "First"
    later = request_scopes(app=app, scopes={Scope.WALLET_SPEND: "Users ask for it"}, actor=developer)
    # `earlier` is as it was read before the first decision: this reviewer never saw the later request.
    with pytest.raises(InvalidTransition):
        decide_scopes(review=earlier, decisions={Scope.WALLET_SPEND: YES}, note="Second", actor=UserFactory())
    app.refresh_from_db()
    later.refresh_from_db()
    assert (app.status, app.granted_scopes, later.status) == ("Approved", "catalog:read", "Pending")


@pytest.mark.parametrize("end", ["withdrawn", "deactivated"])
def test_developer_who_is_withdrawn_or_deactivated_is_granted_nothing_but_may_be_refused_with_a_note(
    end: str, app: App, developer: User, reviewer: User
) -> None:
    review = open_review(app)
    assert review.app.developer.is_active
    if end == "withdrawn":
        withdraw_approval(application=developer.developer_applications.get(), reason="Abuse", actor=reviewer)
    else:
        User.objects.filter(pk=developer.pk).update(is_active=False)
    with pytest.raises(DeveloperNotApproved):
        decide_scopes(review=review, decisions=NARROW, note="", actor=reviewer)
    without_a_note = {Scope.CATALOG_READ: NO, Scope.WALLET_SPEND: ScopeDecision(granted=False)}
    with pytest.raises(InvalidInput) as refusal:
        decide_scopes(review=review, decisions=without_a_note, note="", actor=reviewer)
    assert refusal.value.members["errors"][0]["pointer"] == "#/decisions/wallet:spend/note"
    refused = decide_scopes(review=review, decisions=dict.fromkeys(BOTH, NO), note="", actor=reviewer)
    assert (refused.status, refused.granted_scopes) == ("Rejected", "")


def test_narrower_grant_approves_the_app_with_exactly_that_and_is_mailed_scope_by_scope(
    app: App, reviewer: User, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        decided = decide_scopes(review=open_review(app), decisions=NARROW, note="Read first", actor=reviewer)
    assert "- catalog:read: granted\n- wallet:spend: not granted (Not needed for that)" in mail.outbox[0].body
    assert (decided.status, decided.granted_scopes, decided.status_reason) == ("Approved", "catalog:read", "Read first")
    rows = {row.scope: (row.granted, row.note, row.decided_at is not None) for row in app.scope_rows.all()}
    assert rows == {"catalog:read": (True, "", True), "wallet:spend": (False, "Not needed for that", True)}
    review = app.scope_reviews.get()
    assert (review.status, review.decided_by, review.note) == ("Decided", reviewer, "Read first")
    assert {row["scope"]: (row["reason"], row["granted"], row["note"]) for row in review.outcome} == {
        "catalog:read": ("To read manifests", True, ""),
        "wallet:spend": ("To buy", False, "Not needed for that"),
    }
    assert history_of(app)[0].data == {"granted": "catalog:read"}


def test_request_for_an_app_that_waits_or_is_not_approved_is_refused(app: App, developer: User) -> None:
    with pytest.raises(ScopeReviewOpen):
        request_scopes(app=app, scopes={Scope.LIBRARY_READ: "More"}, actor=developer)
    app = AppFactory(user=developer, status="Suspended", granted_scopes="")
    with pytest.raises(AppNotApproved):
        request_scopes(app=app, scopes={Scope.LIBRARY_READ: "More"}, actor=developer)


def test_request_for_a_granted_scope_is_refused(developer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    with pytest.raises(ScopeAlreadyGranted) as refusal:
        request_scopes(app=app, scopes={Scope.CATALOG_READ: "Again", Scope.LIBRARY_READ: "More"}, actor=developer)
    assert refusal.value.members == {"scopes": ["catalog:read"]}


def test_pending_app_of_a_deleted_account_has_nothing_to_reject(app: App, developer: User, reviewer: User) -> None:
    delete_account(user=developer, reason="Asked for", actor=None)
    app.refresh_from_db()
    with pytest.raises(InvalidTransition, match="deleted"):
        reject_app(app=app, reason="Abandoned", actor=reviewer)
    assert not AppAdmin(App, site).decisions()["reject"].available(app)


def test_old_grant_holds_while_a_request_for_more_waits(app: App, developer: User, reviewer: User) -> None:
    decide_scopes(review=open_review(app), decisions=NARROW, note="", actor=reviewer)
    # Refused the first time, asked for again with a better reason.
    request_scopes(app=app, scopes={Scope.WALLET_SPEND: "Users ask for it"}, actor=developer)
    app.refresh_from_db()
    assert (app.status, app.granted_scopes) == ("Approved", "catalog:read")
    row = app.scope_rows.filter(granted=None).get()
    assert (row.scope, row.reason, row.note, row.decided_at) == ("wallet:spend", "Users ask for it", "", None)
    widened = decide_scopes(review=open_review(app), decisions={Scope.WALLET_SPEND: YES}, note="", actor=reviewer)
    assert widened.granted_scopes == "catalog:read wallet:spend"
    event = WebhookEvent.objects.get(type="app.scopes_changed")
    assert (event.app, event.data["grantedScopes"]) == (app, ["catalog:read", "wallet:spend"])
    assert app.scope_reviews.count() == 2
    assert AppScope.objects.filter(app=app).count() == 2


def test_refused_request_for_more_leaves_the_app_as_it_was(developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    request_scopes(app=app, scopes={Scope.WALLET_SPEND: "To buy"}, actor=developer)
    decided = decide_scopes(review=open_review(app), decisions={Scope.WALLET_SPEND: NO}, note="Not yet", actor=reviewer)
    assert (decided.status, decided.granted_scopes) == ("Approved", "catalog:read")
    entry = history_of(app)[0]
    assert (entry.action, entry.reason) == ("app.decide_scopes", "Not yet")
    assert entry.data == {"before": "catalog:read", "after": "catalog:read"}


def test_deciding_while_the_app_is_suspended_is_refused(developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    request_scopes(app=app, scopes={Scope.WALLET_SPEND: "To buy"}, actor=developer)
    suspend_app(app=app, reason="Abuse", actor=reviewer)
    with pytest.raises(InvalidTransition):
        decide_scopes(review=open_review(app), decisions={Scope.WALLET_SPEND: YES}, note="", actor=reviewer)


def test_narrowing_what_is_not_granted_or_a_pending_app_or_without_a_scope_or_reason_is_refused(app: App, reviewer: User) -> None:
    with pytest.raises(InvalidTransition):
        narrow_scopes(app=app, scopes={Scope.CATALOG_READ}, reason="x", actor=reviewer)
    app = AppFactory(granted_scopes="catalog:read")
    for scopes, reason in ([], "x"), ([Scope.CATALOG_READ], ""):
        with pytest.raises(InvalidInput):
            narrow_scopes(app=app, scopes=scopes, reason=reason, actor=reviewer)
    with pytest.raises(ScopeNotGranted) as refusal:
        narrow_scopes(app=app, scopes={Scope.CATALOG_READ, Scope.WALLET_SPEND}, reason="x", actor=reviewer)
    assert refusal.value.members == {"scopes": ["wallet:spend"]}
    app.refresh_from_db()
    assert app.granted_scopes == "catalog:read"


def test_narrowed_grant_takes_the_scope_from_existing_keys_even_of_a_suspended_app(app: App, developer: User, reviewer: User) -> None:
    app = decide_scopes(review=open_review(app), decisions=BOTH, note="", actor=reviewer)
    key, _ = issue_api_key(app=app, name="laptop", actor=developer)
    suspend_app(app=app, reason="Abuse", actor=reviewer)
    narrowed = narrow_scopes(app=app, scopes={Scope.WALLET_SPEND}, reason="Misused", actor=reviewer)
    assert narrowed.granted_scopes == "catalog:read"
    key.refresh_from_db()
    key.app.refresh_from_db()
    assert key.scopes == {Scope.CATALOG_READ}
    row = app.scope_rows.get(scope="wallet:spend")
    assert (row.granted, row.note) == (False, "Misused")
    assert row.decided_at is not None
    assert row.decided_at > key.created_at
    entry = history_of(app)[0]
    assert (entry.reason, entry.data) == ("Misused", {"before": "catalog:read wallet:spend", "after": "catalog:read"})


def test_scope_granted_later_is_not_added_to_an_existing_key(app: App, developer: User, reviewer: User) -> None:
    decide_scopes(review=open_review(app), decisions=NARROW, note="", actor=reviewer)
    key, _ = issue_api_key(app=app, name="laptop", actor=developer)
    request_scopes(app=app, scopes={Scope.WALLET_SPEND: "To buy"}, actor=developer)
    decide_scopes(review=open_review(app), decisions={Scope.WALLET_SPEND: YES}, note="", actor=reviewer)
    key = selectors.keys_of(app).get(pk=key.pk)
    assert key.scopes == {Scope.CATALOG_READ}
    newer, _ = issue_api_key(app=app, name="new", actor=developer)
    assert newer.scopes == {Scope.CATALOG_READ, Scope.WALLET_SPEND}
    assert [history_of(each)[0].data for each in (key, newer)] == [{"scopes": "catalog:read"}, {"scopes": "catalog:read wallet:spend"}]

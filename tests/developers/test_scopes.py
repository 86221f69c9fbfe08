"""Scopes of an app: decided one by one, asked for again, taken back."""

from typing import Any

import pytest
from django.core import mail

from developers import selectors
from developers.errors import (
    AppNotApproved,
    DecisionsIncomplete,
    DeveloperNotApproved,
    ScopeAlreadyGranted,
    ScopeNotAvailable,
    ScopeNotGranted,
    ScopeReviewOpen,
)
from developers.models import App, AppScope
from developers.services.applications import withdraw_approval
from developers.services.apps import create_app, suspend_app
from developers.services.credentials import issue_api_key
from developers.services.scopes import ScopeDecision, decide_scopes, narrow_scopes, request_scopes
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory

from .cases import open_review

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

YES, NO = ScopeDecision(granted=True), ScopeDecision(granted=False, note="Not needed for that")
BOTH = {Scope.CATALOG_READ: YES, Scope.WALLET_SPEND: YES}
NARROW = {Scope.CATALOG_READ: YES, Scope.WALLET_SPEND: NO}
NONE = {Scope.CATALOG_READ: NO, Scope.WALLET_SPEND: NO}


@pytest.fixture
def app(developer: User) -> App:
    """A pending app that asks for two scopes."""
    scopes = {Scope.CATALOG_READ: "To read manifests", Scope.WALLET_SPEND: "To buy"}
    return create_app(user=developer, name="Picker", purpose="Picks fonts", scopes=scopes, actor=developer)


@pytest.mark.parametrize(
    ("decisions", "missing", "unknown"),
    [
        ({}, ["catalog:read", "wallet:spend"], []),
        ({Scope.CATALOG_READ: YES}, ["wallet:spend"], []),
        ({**BOTH, Scope.LIBRARY_READ: YES}, [], ["library:read"]),
        ({Scope.CATALOG_READ: NO, Scope.VENDOR_MANAGE: YES}, ["wallet:spend"], ["vendor:manage"]),
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


def test_refusing_a_scope_needs_a_note(app: App, reviewer: User) -> None:
    with pytest.raises(InvalidInput) as refusal:
        decide_scopes(
            review=open_review(app), decisions={**BOTH, Scope.WALLET_SPEND: ScopeDecision(granted=False)}, note="", actor=reviewer
        )
    assert refusal.value.members["errors"][0]["pointer"] == "#/decisions/wallet:spend/note"
    assert app.scope_rows.filter(granted=None).count() == 2


@pytest.mark.parametrize("first", [BOTH, NARROW, NONE])
def test_second_decision_on_requested_scopes_is_refused(first: Any, app: App, reviewer: User) -> None:
    review = open_review(app)
    decided = decide_scopes(review=review, decisions=first, note="First", actor=reviewer)
    with pytest.raises(InvalidTransition):
        decide_scopes(review=review, decisions=BOTH, note="Second", actor=UserFactory())
    after = App.objects.get(pk=app.pk)
    assert (after.status, after.granted_scopes) == (decided.status, decided.granted_scopes)
    assert app.scope_reviews.get().note == "First"


def test_decision_on_an_earlier_scope_request_does_not_apply_to_a_later_one(app: App, developer: User, reviewer: User) -> None:
    earlier = open_review(app)
    decide_scopes(review=earlier, decisions=NARROW, note="First", actor=reviewer)
    later = request_scopes(app=app, scopes={Scope.WALLET_SPEND: "Users ask for it"}, actor=developer)
    # `earlier` is as it was read before the first decision: this reviewer never saw the later request.
    with pytest.raises(InvalidTransition):
        decide_scopes(review=earlier, decisions={Scope.WALLET_SPEND: YES}, note="Second", actor=UserFactory())
    app.refresh_from_db()
    later.refresh_from_db()
    assert (app.granted_scopes, later.status) == ("catalog:read", "Pending")


def test_granting_to_a_withdrawn_developer_is_refused(app: App, developer: User, reviewer: User) -> None:
    withdraw_approval(application=developer.developer_applications.get(), reason="Abuse", actor=reviewer)
    with pytest.raises(DeveloperNotApproved):
        decide_scopes(review=open_review(app), decisions=NARROW, note="", actor=reviewer)
    assert decide_scopes(review=open_review(app), decisions=NONE, note="", actor=reviewer).status == "Rejected"


def test_granting_to_a_deactivated_developer_is_refused(app: App, developer: User, reviewer: User) -> None:
    review = open_review(app)
    assert review.app.developer.is_active
    User.objects.filter(pk=developer.pk).update(is_active=False)
    with pytest.raises(DeveloperNotApproved, match="deactivated"):
        decide_scopes(review=review, decisions=NARROW, note="", actor=reviewer)
    assert decide_scopes(review=open_review(app), decisions=NONE, note="", actor=reviewer).status == "Rejected"


def test_narrower_grant_approves_the_app_with_exactly_that(app: App, reviewer: User) -> None:
    decided = decide_scopes(review=open_review(app), decisions=NARROW, note="Read first", actor=reviewer)
    assert (decided.status, decided.granted_scopes, decided.status_reason) == ("Approved", "catalog:read", "Read first")
    rows = {row.scope: (row.granted, row.note, row.decided_at is not None) for row in app.scope_rows.all()}
    assert rows == {"catalog:read": (True, "", True), "wallet:spend": (False, "Not needed for that", True)}
    review = app.scope_reviews.get()
    assert (review.status, review.decided_by, review.note) == ("Decided", reviewer, "Read first")
    assert {row["scope"]: (row["reason"], row["granted"], row["note"]) for row in review.outcome} == {
        "catalog:read": ("To read manifests", True, ""),
        "wallet:spend": ("To buy", False, "Not needed for that"),
    }
    entry = history_of(app).first()
    assert entry is not None
    assert (entry.action, entry.from_state, entry.to_state, entry.data) == (
        "app.approve",
        "Pending",
        "Approved",
        {"granted": "catalog:read"},
    )


def test_nothing_granted_rejects_a_pending_app(app: App, reviewer: User) -> None:
    decided = decide_scopes(review=open_review(app), decisions=NONE, note="", actor=reviewer)
    assert (decided.status, decided.granted_scopes) == ("Rejected", "")


def test_decision_is_mailed_scope_by_scope(app: App, reviewer: User, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        decide_scopes(review=open_review(app), decisions=NARROW, note="Read first", actor=reviewer)
    (sent,) = mail.outbox
    assert sent.subject == "Decision on the scopes of Picker"
    assert "- catalog:read: granted\n- wallet:spend: not granted (Not needed for that)" in sent.body


def test_request_for_an_undecided_app_is_refused(app: App, developer: User) -> None:
    with pytest.raises(ScopeReviewOpen):
        request_scopes(app=app, scopes={Scope.LIBRARY_READ: "More"}, actor=developer)


@pytest.mark.parametrize("status", ["Rejected", "Suspended"])
def test_request_for_an_app_that_is_not_approved_is_refused(status: str, developer: User) -> None:
    app = AppFactory(user=developer, status=status, granted_scopes="")
    with pytest.raises(AppNotApproved):
        request_scopes(app=app, scopes={Scope.LIBRARY_READ: "More"}, actor=developer)


def test_request_for_a_granted_scope_is_refused(developer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    with pytest.raises(ScopeAlreadyGranted) as refusal:
        request_scopes(app=app, scopes={Scope.CATALOG_READ: "Again", Scope.LIBRARY_READ: "More"}, actor=developer)
    assert refusal.value.members == {"scopes": ["catalog:read"]}


def test_request_for_vendor_manage_is_refused(developer: User) -> None:
    with pytest.raises(ScopeNotAvailable):
        request_scopes(app=AppFactory(user=developer), scopes={Scope.VENDOR_MANAGE: "More"}, actor=developer)


def test_second_scope_request_while_one_is_open_is_refused(developer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    request_scopes(app=app, scopes={Scope.LIBRARY_READ: "More"}, actor=developer)
    with pytest.raises(ScopeReviewOpen):
        request_scopes(app=app, scopes={Scope.ACCOUNT_READ: "Still more"}, actor=developer)
    assert app.scope_reviews.count() == 1


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
    assert app.scope_reviews.count() == 2
    assert AppScope.objects.filter(app=app).count() == 2


def test_refused_request_for_more_leaves_the_app_as_it_was(developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    request_scopes(app=app, scopes={Scope.WALLET_SPEND: "To buy"}, actor=developer)
    decided = decide_scopes(review=open_review(app), decisions={Scope.WALLET_SPEND: NO}, note="", actor=reviewer)
    assert (decided.status, decided.granted_scopes) == ("Approved", "catalog:read")
    entry = history_of(app)[0]
    assert (entry.action, entry.data) == ("app.decide_scopes", {"before": "catalog:read", "after": "catalog:read"})


def test_deciding_while_the_app_is_suspended_is_refused(developer: User, reviewer: User) -> None:
    app = AppFactory(user=developer, granted_scopes="catalog:read")
    request_scopes(app=app, scopes={Scope.WALLET_SPEND: "To buy"}, actor=developer)
    suspend_app(app=app, reason="Abuse", actor=reviewer)
    with pytest.raises(InvalidTransition):
        decide_scopes(review=open_review(app), decisions={Scope.WALLET_SPEND: YES}, note="", actor=reviewer)


@pytest.mark.parametrize("revoke", [{}, {Scope.CATALOG_READ: ""}])
def test_narrowing_without_a_scope_or_a_note_is_refused(revoke: Any, reviewer: User) -> None:
    with pytest.raises(InvalidInput):
        narrow_scopes(app=AppFactory(), withdrawn=revoke, actor=reviewer)


def test_narrowing_what_is_not_granted_is_refused(reviewer: User) -> None:
    app = AppFactory(granted_scopes="catalog:read")
    with pytest.raises(ScopeNotGranted) as refusal:
        narrow_scopes(app=app, withdrawn={Scope.CATALOG_READ: "x", Scope.WALLET_SPEND: "x"}, actor=reviewer)
    assert refusal.value.members == {"scopes": ["wallet:spend"]}
    app.refresh_from_db()
    assert app.granted_scopes == "catalog:read"


def test_narrowing_a_pending_app_is_refused(app: App, reviewer: User) -> None:
    with pytest.raises(InvalidTransition):
        narrow_scopes(app=app, withdrawn={Scope.CATALOG_READ: "x"}, actor=reviewer)


@pytest.mark.parametrize("suspended", [False, True])
def test_narrowed_grant_takes_the_scope_from_existing_keys(suspended: bool, app: App, developer: User, reviewer: User) -> None:  # noqa: FBT001 - a parameter of the case
    app = decide_scopes(review=open_review(app), decisions=BOTH, note="", actor=reviewer)
    key, _ = issue_api_key(app=app, name="laptop", actor=developer)
    if suspended:
        suspend_app(app=app, reason="Abuse", actor=reviewer)
    narrowed = narrow_scopes(app=app, withdrawn={Scope.WALLET_SPEND: "Misused"}, actor=reviewer)
    assert narrowed.granted_scopes == "catalog:read"
    key.refresh_from_db()
    key.app.refresh_from_db()
    assert key.scopes == {Scope.CATALOG_READ}
    row = app.scope_rows.get(scope="wallet:spend")
    assert (row.granted, row.note) == (False, "Misused")
    assert row.decided_at is not None
    assert row.decided_at > key.created_at
    entry = history_of(app).first()
    assert entry is not None
    assert entry.data == {"before": "catalog:read wallet:spend", "after": "catalog:read", "notes": {"wallet:spend": "Misused"}}


def test_scope_granted_later_is_not_added_to_an_existing_key(app: App, developer: User, reviewer: User) -> None:
    decide_scopes(review=open_review(app), decisions=NARROW, note="", actor=reviewer)
    key, _ = issue_api_key(app=app, name="laptop", actor=developer)
    request_scopes(app=app, scopes={Scope.WALLET_SPEND: "To buy"}, actor=developer)
    decide_scopes(review=open_review(app), decisions={Scope.WALLET_SPEND: YES}, note="", actor=reviewer)
    key = selectors.keys_of(app).get(pk=key.pk)
    assert key.scopes == {Scope.CATALOG_READ}
    newer, _ = issue_api_key(app=app, name="new", actor=developer)
    assert newer.scopes == {Scope.CATALOG_READ, Scope.WALLET_SPEND}

"""Scopes of an app: request, decide one by one, withdraw. Granted scopes are always requested ones."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes
from marketplace.core.transitions import lock, lock_for_decision

from ..errors import (
    AppNotApproved,
    DecisionsIncomplete,
    DeveloperNotApproved,
    ScopeAlreadyGranted,
    ScopeNotAvailable,
    ScopeNotGranted,
    ScopeReviewOpen,
)
from ..event_types import EventType
from ..models import App, AppLogo, AppScope, ScopeReview
from ..models.apps import AppStatus, ScopeReviewStatus
from ..selectors import open_scope_review_of, undecided_scopes_of
from ..webhooks.publishing import new_event, publish_events
from .states import APP_TRANSITIONS, SANDBOX_REASON, SCOPE_REVIEW_TRANSITIONS, lock_app, lock_approved_application, notify_developer


@dataclass(frozen=True)
class ScopeDecision:
    """A reviewer's decision on one requested scope."""

    granted: bool
    # For the developer to read.
    note: str = ""


@transaction.atomic
def request_scopes(*, app: App, scopes: Mapping[Scope, str], actor: User) -> ScopeReview:
    """Request more scopes, each with its reason; what is granted now holds meanwhile.

    Raises:
        AppNotApproved: the app was not approved yet, or is rejected or suspended.
        ScopeAlreadyGranted: the app has one of them.
        ScopeNotAvailable: a scope that no app can have.
        ScopeReviewOpen: an earlier request waits.
    """
    app = lock_app(app)
    if open_scope_review_of(app) is not None:
        raise ScopeReviewOpen
    if app.status != AppStatus.APPROVED:
        raise AppNotApproved("You can request more scopes while the app is approved.")
    return queue_request(app, scopes, actor)


def queue_request(app: App, scopes: Mapping[Scope, str], actor: User) -> ScopeReview:
    """Save a request for scopes and queue it; a sandbox grants it at once. The caller has locked the app or just created it."""
    wanted = {scope: texts.clean_text(scopes[scope], f"scopes/{scope}") for scope in Scope if scope in scopes}
    if not wanted:
        raise texts.invalid("scopes", "empty", "At least one scope is required.")
    if foreign := wanted.keys() - APP_SCOPES:
        raise ScopeNotAvailable(f"No app can have {format_scopes(foreign)}.", scopes=format_scopes(foreign).split())
    if owned := wanted.keys() & app.scopes:
        raise ScopeAlreadyGranted(scopes=format_scopes(owned).split())
    review = ScopeReview.objects.create(app=app)
    for scope, reason in wanted.items():
        # A scope that was refused before can be requested again.
        defaults = {"reason": reason, "granted": None, "note": "", "requested_at": review.requested_at, "decided_at": None}
        AppScope.objects.update_or_create(app=app, scope=scope, defaults=defaults)
    audit.record("app.request_scopes", app, actor=actor, scopes=format_scopes(wanted))
    if settings.SANDBOX:
        pending = _undecided(app)
        _close_review(app, review, pending, dict.fromkeys(pending, ScopeDecision(granted=True)), note=SANDBOX_REASON, actor=None)
    return review


@transaction.atomic
def decide_scopes(
    *,
    review: ScopeReview,
    decisions: Mapping[Scope, ScopeDecision],
    note: str,
    actor: User,
    logo_digest: str = "",
    redirect_uris: str | None = None,
) -> App:
    """Grant or refuse each scope of a request.

    A pending app with a scope granted is approved, with none it is rejected; an approved app stays approved. With a scope granted, the logo
    is approved too, if it still has the digest of the one that the reviewer saw. `redirect_uris` are those that the reviewer saw.

    Raises:
        DecisionsIncomplete: a requested scope without a decision, or a decision about one that was not requested.
        DeveloperNotApproved: a pending app whose developer's approval was withdrawn or account deactivated.
        InvalidTransition: the request was decided already, the app is suspended, or its redirect URIs are not those that the reviewer saw.
        SelfReview: the app is the actor's.
    """
    note = texts.clean_text(note, "note", required=False)
    if any(decision.granted for decision in decisions.values()):
        _lock_application_of_pending(review.app)
    app = lock_for_decision(App.objects.all(), pk=review.app_id, owner="user_id", actor=actor)
    review = lock(ScopeReview.objects.all(), pk=review.pk)
    if review.status != ScopeReviewStatus.PENDING:
        raise InvalidTransition("This request has already been decided.", currentState=review.status)
    if app.status not in {AppStatus.PENDING, AppStatus.APPROVED}:
        raise InvalidTransition(f"The app is {app.status}; scopes are decided while it is pending or approved.", currentState=app.status)
    if redirect_uris is not None and redirect_uris != app.redirect_uris:
        raise InvalidTransition("The redirect URIs have changed. Reload the page and check them.")
    pending = _undecided(app)
    missing, unknown = pending.keys() - decisions.keys(), decisions.keys() - pending.keys()
    if missing or unknown:
        raise DecisionsIncomplete(missing=format_scopes(missing).split(), unknown=format_scopes(unknown).split())
    _close_review(app, review, pending, decisions, note=note, actor=actor)
    if logo_digest and any(decision.granted for decision in decisions.values()):
        AppLogo.objects.filter(app=app, digest=logo_digest).update(approved=True)
    return app


@transaction.atomic
def reject_app(*, app: App, reason: str, actor: User) -> App:
    """Refuse a pending app with every scope it asked for.

    Raises:
        InvalidTransition: the app is not pending, or its request went with its developer's account.
        SelfReview: the app is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    app = lock_for_decision(App.objects.all(), pk=app.pk, owner="user_id", actor=actor)
    if not APP_TRANSITIONS.allows(app, "reject"):
        raise InvalidTransition(f"The app is {app.status}; only a pending app can be rejected.", currentState=app.status)
    # Under the app's lock nobody else decides.
    review = open_scope_review_of(app)
    if review is None:
        raise InvalidTransition("The developer's account is deleted, and the app's request with it.", currentState=app.status)
    refused = dict.fromkeys(_undecided(app), ScopeDecision(granted=False))
    return decide_scopes(review=review, decisions=refused, note=reason, actor=actor)


@transaction.atomic
def narrow_scopes(*, app: App, scopes: Collection[Scope], reason: str, actor: User) -> App:
    """Withdraw granted scopes; keys and tokens lose them at the next request, because their scopes are computed then.

    Raises:
        InvalidTransition: the app was never approved.
        ScopeNotGranted: the app does not have one of them.
        SelfReview: the app is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    withdrawn = set(scopes)
    if not withdrawn:
        raise texts.invalid("scopes", "empty", "At least one scope is required.")
    app = lock_for_decision(App.objects.all(), pk=app.pk, owner="user_id", actor=actor)
    if app.status not in {AppStatus.APPROVED, AppStatus.SUSPENDED}:
        raise InvalidTransition(f"The app is {app.status}; only granted scopes can be withdrawn.", currentState=app.status)
    if absent := withdrawn - app.scopes:
        raise ScopeNotGranted(scopes=format_scopes(absent).split())
    before = app.granted_scopes
    app.granted_scopes = format_scopes(app.scopes - withdrawn)
    app.save(update_fields=["granted_scopes"])
    _publish_grant(app)
    app.scope_rows.filter(scope__in=withdrawn).update(granted=False, note=reason, decided_at=timezone.now())
    audit.record("app.narrow_scopes", app, actor=actor, reason=reason, before=before, after=app.granted_scopes)
    notify_developer(app, "developers/app_narrowed", scopes=format_scopes(withdrawn).split(), reason=reason)
    return app


def _close_review(
    app: App,
    review: ScopeReview,
    pending: Mapping[Scope, AppScope],
    decisions: Mapping[Scope, ScopeDecision],
    *,
    note: str,
    actor: User | None,
) -> None:
    """Save the decision on each scope, the app's grant and the end of the review, and tell the developer."""
    now = timezone.now()
    for scope, row in pending.items():
        row.granted = decisions[scope].granted
        # A refusal needs a note of its own, or one on the whole request.
        needs_note = not row.granted and not note
        row.note = texts.clean_text(decisions[scope].note, f"decisions/{scope}/note", required=needs_note)
        row.decided_at = now
        row.save(update_fields=["granted", "note", "decided_at"])
    granted = app.scopes | {scope for scope in pending if decisions[scope].granted}
    _save_grant(app, granted, note, actor)
    outcome = [{"scope": row.scope, "reason": row.reason, "granted": row.granted, "note": row.note} for row in pending.values()]
    changes = {"outcome": outcome, "note": note, "decided_at": now, "decided_by": actor}
    SCOPE_REVIEW_TRANSITIONS.apply(review, "decide", actor=actor, reason=note, changes=changes, outcome=outcome)
    notify_developer(app, "developers/app_decided", note=note, scope_rows=list(pending.values()))


def _lock_application_of_pending(app: App) -> None:
    """Lock the developer's application, before the app, if the app is pending.

    For an approved app that is not needed: withdrawing the approval of the application suspends the app.
    """
    if app.user is not None and App.objects.filter(pk=app.pk, status=AppStatus.PENDING).exists():
        lock_approved_application(app.user)
        # Read again, because `app.user` may be older than the wait for the lock.
        if not User.objects.filter(pk=app.user.pk, is_active=True).exists():
            raise DeveloperNotApproved("The developer's account is deactivated.")


def _undecided(app: App) -> dict[Scope, AppScope]:
    """Return the rows of the open request: there is one at a time."""
    return {Scope(row.scope): row for row in undecided_scopes_of(app)}


def _publish_grant(app: App) -> None:
    data = {"appId": str(app.pk), "grantedScopes": app.granted_scopes.split()}
    publish_events(new_event(EventType.SCOPES_CHANGED, subject=app.pk, data=data, app_id=app.pk))


def _save_grant(app: App, granted: frozenset[Scope], note: str, actor: User | None) -> None:
    """Save the app's granted scopes, with the state that follows from them."""
    before, after = app.granted_scopes, format_scopes(granted)
    if app.status == AppStatus.PENDING:
        verb = "approve" if granted else "reject"
        changes = {"granted_scopes": after, "status_reason": note}
        APP_TRANSITIONS.apply(app, verb, actor=actor, reason=note, changes=changes, granted=after)
        return
    app.granted_scopes = after
    app.save(update_fields=["granted_scopes"])
    _publish_grant(app)
    audit.record("app.decide_scopes", app, actor=actor, reason=note, before=before, after=after)

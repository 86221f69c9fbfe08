"""What is restored when an appeal (`marketplace.review.appeals`) overturns a rejection, a suspension or a withdrawn approval."""

from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidTransition
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from marketplace.core.transitions import lock
from marketplace.review.appeals import Appealable, register_appealable
from marketplace.ui.mail import mail

from ..models import App, AppScope, DeveloperApplication
from ..models.apps import AppStatus
from .apps import reinstate_app
from .scopes import queue_request
from .states import APP_TRANSITIONS, APPLICATION_TRANSITIONS, lock_approved_application, notify_developer


@transaction.atomic
def overturn_app_suspension(*, subject: App, decision: AuditEntry, reason: str, actor: User) -> None:
    """Reinstate a suspended app with its granted scopes; its keys and tokens work again."""
    reinstate_app(app=subject, reason=reason, actor=actor)


@transaction.atomic
def overturn_app_rejection(*, subject: App, decision: AuditEntry, reason: str, actor: User) -> None:
    """Queue a rejected app for another review, with the scopes that it asked for."""
    APP_TRANSITIONS.apply(subject, "reopen", actor=actor, reason=reason, changes={"status_reason": ""})
    asked = AppScope.objects.filter(app=subject).values_list("scope", "reason")
    queue_request(subject, {Scope(scope): why for scope, why in asked}, actor)
    notify_developer(subject, "developers/app_reopened", reason=reason)


@transaction.atomic
def restore_approval(*, subject: DeveloperApplication, decision: AuditEntry, reason: str, actor: User) -> None:
    """Approve a developer whose application was rejected or whose approval was withdrawn, and reinstate the apps suspended with it.

    Raises:
        InvalidTransition: the developer has applied again.
    """
    if DeveloperApplication.objects.filter(user=subject.user_id, pk__gt=subject.pk).exists():
        raise InvalidTransition("The developer has applied again: decide on that application, and let this decision stand.")
    changes = {"decision_reason": reason, "decided_at": timezone.now(), "decided_by": actor}
    APPLICATION_TRANSITIONS.apply(subject, "restore", actor=actor, reason=reason, changes=changes)
    reinstated = []
    suspended = App.objects.filter(user=subject.user_id, status=AppStatus.SUSPENDED).order_by("pk")
    for app in suspended.select_for_update(of=("self",), no_key=True):
        last = history_of(app).exclude(to_state="").first()
        if last is not None and last.data.get("application") == str(subject.pk):
            APP_TRANSITIONS.apply(app, "reinstate", actor=actor, reason=reason, changes={"status_reason": reason})
            reinstated.append(app.name)
    mail(subject.user, "developers/application_approved", reason=reason, reinstated=reinstated)


def _lock_app(app_id: Any) -> App:
    """Return the app, locked after its developer's approval, without which it cannot be restored."""
    lock_approved_application(App.objects.select_related("user").get(pk=app_id).developer)
    return lock(App.objects.all(), pk=app_id)


def connect() -> None:
    """Let developers appeal the decisions on their applications and apps."""
    register_appealable(
        Appealable(
            "app",
            App,
            owner="user",
            lock=_lock_app,
            overturns={"app.suspend": overturn_app_suspension, "app.reject": overturn_app_rejection},
            page=lambda app: reverse("app-detail", args=[app.pk]),
        )
    )
    register_appealable(
        Appealable(
            "application",
            DeveloperApplication,
            owner="user",
            lock=lambda application_id: lock(DeveloperApplication.objects.all(), pk=application_id),
            overturns={"application.reject": restore_approval, "application.withdraw": restore_approval},
            page=lambda _application: reverse("developer-application"),
        )
    )

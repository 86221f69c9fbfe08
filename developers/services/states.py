"""The transitions of applications, apps and scope reviews, and what the services that apply them share."""

from typing import Any

from marketplace.accounts.models import User
from marketplace.core.errors import NotFound
from marketplace.core.transitions import TransitionTable, lock
from marketplace.ui.mail import mail

from ..errors import DeveloperNotApproved
from ..models import App, DeveloperApplication
from ..models.applications import ApplicationStatus
from ..models.apps import AppStatus, ScopeReviewStatus

# The reason of a sandbox's automatic approvals.
SANDBOX_REASON = "A sandbox approves everything at once."
APPLICATION_TRANSITIONS = TransitionTable(
    "application",
    {
        "answer": ((ApplicationStatus.MORE_INFO_NEEDED,), ApplicationStatus.PENDING),
        "ask": ((ApplicationStatus.PENDING,), ApplicationStatus.MORE_INFO_NEEDED),
        "approve": ((ApplicationStatus.PENDING,), ApplicationStatus.APPROVED),
        "reject": ((ApplicationStatus.PENDING,), ApplicationStatus.REJECTED),
        "withdraw": ((ApplicationStatus.APPROVED,), ApplicationStatus.WITHDRAWN),
        # By an appeal.
        "restore": ((ApplicationStatus.REJECTED, ApplicationStatus.WITHDRAWN), ApplicationStatus.APPROVED),
    },
    reason_field="decision_reason",
)
APP_TRANSITIONS = TransitionTable(
    "app",
    {
        "approve": ((AppStatus.PENDING,), AppStatus.APPROVED),
        "reject": ((AppStatus.PENDING,), AppStatus.REJECTED),
        # A developer's app is reopened only by an appeal.
        "reopen": ((AppStatus.REJECTED,), AppStatus.PENDING),
        "suspend": ((AppStatus.APPROVED,), AppStatus.SUSPENDED),
        "reinstate": ((AppStatus.SUSPENDED,), AppStatus.APPROVED),
    },
    reason_field="status_reason",
)
SCOPE_REVIEW_TRANSITIONS = TransitionTable("scope_review", {"decide": ((ScopeReviewStatus.PENDING,), ScopeReviewStatus.DECIDED)})


def notify_developer(app: App, template: str, **context: Any) -> None:
    """Mail the app's developer, where it has one."""
    if app.user is not None:
        mail(app.user, template, app=app, **context)


def lock_app(app: App) -> App:
    """Return the app, locked after its developer, as by a deletion; raises NotFound if it has none whose account is active."""
    lock(User.objects.filter(is_active=True), pk=app.user_id)
    return lock(App.objects.all(), pk=app.pk)


def lock_approved_application(user: User) -> DeveloperApplication:
    """Return the user's approved application, locked, so that a withdrawal waits for this transaction.

    Locks are taken in this order: application, then app, then scope review.

    Raises:
        DeveloperNotApproved: there is none.
    """
    try:
        return lock(DeveloperApplication.objects.all(), user=user, status=ApplicationStatus.APPROVED)
    except NotFound:
        raise DeveloperNotApproved from None

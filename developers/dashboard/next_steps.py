"""The onboarding guide of the dashboard: the developer's next step, from the application to the first API call."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from marketplace.core.scopes import Scope

from ..models import ApiKey, App, DeveloperApplication
from ..models.applications import CLOSED_STATUSES, ApplicationStatus
from ..models.apps import AppStatus
from ..selectors import Progress


@dataclass(frozen=True)
class NextStep:
    """One thing to do, or to wait for."""

    title: str
    description: str
    # Where it is done; empty where someone else does it.
    address: str = ""
    # The text of the link to it.
    action: str = ""


_MILESTONES = ("Apply", "Wait for approval", "Describe an app", "Wait for the scopes", "Create a key and make a call")
# Suggestions for a first call: they need no id and change nothing.
_FIRST_CALLS = ((Scope.LIBRARY_READ, "/api/v1/library"), (Scope.ACCOUNT_READ, "/api/v1/wallet"))
# A first token, which the dashboard offers to create with one button: it can read and not spend.
FIRST_SCOPES = (Scope.LIBRARY_READ, Scope.ACCOUNT_READ)


def milestones_of(application: DeveloperApplication | None, progress: Progress) -> list[tuple[str, str]]:
    """Return the steps of the onboarding, each with its state: done, now or later; empty once there is a key."""
    if progress.has_key:
        return []
    if application is None or application.status in CLOSED_STATUSES:
        here = 0
    elif application.status != ApplicationStatus.APPROVED:
        here = 1
    else:
        here = 4 if progress.has_grant else 3 if progress.has_app else 2
    return [(label, "done" if number < here else "now" if number == here else "later") for number, label in enumerate(_MILESTONES)]


def next_step_of(app: App, keys: Sequence[ApiKey], *, called: bool) -> NextStep | None:
    """Return the next step of an app's developer; None once the app makes calls."""
    match app.status:
        case AppStatus.PENDING:
            return NextStep(
                "The scopes are in review",
                "Each scope is granted or refused separately. You get an email when they are decided; then you can create the first key here.",
            )
        case AppStatus.REJECTED:
            return NextStep(
                "Describe another app",
                "No scopes were granted. Read the reviewer's notes, then describe an app that requests less or explains more.",
                reverse("app-create"),
                "New app",
            )
        case AppStatus.SUSPENDED:
            return NextStep(
                "The app is suspended",
                "Its keys and tokens don't work until the reviewer's points are resolved. Then those that have not ended work again.",
            )
        case _ if not app.granted_scopes:
            return NextStep(
                "Request scopes", "The app has no scopes, so it can't have a key.", reverse("app-scopes", args=[app.pk]), "Request scopes"
            )
        case _ if not any(key.is_active for key in keys):
            return NextStep(
                "Create a key" if not keys else "Create another key",
                "It has the app's scopes. The page shows it once, with a first call to try.",
                reverse("key-create", args=[app.pk]),
                "New key",
            )
        case _ if not called:
            return NextStep(
                "Make the first call",
                "Try a call in the console, which needs no key, and copy it as code.",
                f"{reverse('console')}?app={app.pk}",
                "Open the console",
            )
    return None


def first_call_url(app: App | None) -> str:
    """Return the URL for a first call with a new credential.

    For a user's own token it is GET me; for a key, what the app's scopes allow it to read, or else a public list.
    """
    if app is None:
        return f"{settings.BASE_URL}/api/v1/me"
    path = next((path for scope, path in _FIRST_CALLS if scope in app.scopes), "/api/v1/assets?limit=1")
    return f"{settings.BASE_URL}{path}"

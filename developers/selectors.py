"""What is asked about developers, their apps and credentials."""

from typing import TypeVar

from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core.errors import NotFound
from marketplace.core.ids import parse_id

from .models import AccessToken, ApiKey, App, ApplicationMessage, AppScope, DeveloperApplication, ScopeReview
from .models.applications import ApplicationStatus
from .models.apps import ReviewStatus
from .models.credentials import TokenKind

M = TypeVar("M", bound=Model)


def is_verified_developer(user: User) -> bool:
    """Tell whether the user has an approved application."""
    return DeveloperApplication.objects.filter(user=user, status=ApplicationStatus.APPROVED).exists()


def current_application(user: User) -> DeveloperApplication | None:
    """Return the user's newest application, which is the open or the approved one where there is such; None if there never was one."""
    return DeveloperApplication.objects.filter(user=user).order_by("-id").first()


def messages_of(application: DeveloperApplication) -> QuerySet[ApplicationMessage]:
    """Return the questions and answers of an application, oldest first."""
    return ApplicationMessage.objects.filter(application=application).select_related("author").order_by("id")


def apps_of(user: User) -> QuerySet[App]:
    """Return the user's apps with their scope rows, newest first."""
    return App.objects.filter(user=user).prefetch_related("scope_rows").order_by("-id")


def app_of(user: User, app_id: str) -> App:
    """Return one of the user's apps.

    Raises:
        NotFound: no such app, or someone else's.
    """
    return _own(apps_of(user), app_id)


def scope_rows_of(app: App) -> QuerySet[AppScope]:
    """Return what the app ever asked for, with the decisions."""
    return AppScope.objects.filter(app=app).order_by("id")


def open_review_of(app: App) -> ScopeReview | None:
    """Return the app's undecided request for scopes, None when nothing waits."""
    return ScopeReview.objects.filter(app=app, status=ReviewStatus.PENDING).first()


def pending_scopes_of(app: App) -> QuerySet[AppScope]:
    """Return the rows that the open request asks a decision for."""
    return scope_rows_of(app).filter(granted=None)


def keys_of(app: App) -> QuerySet[ApiKey]:
    """Return every key of an app, revoked ones too, newest first."""
    return ApiKey.objects.filter(app=app).order_by("-id")


def live_keys_of(app: App) -> QuerySet[ApiKey]:
    """Return the keys that are neither revoked nor expired."""
    return keys_of(app).filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)


def key_of(user: User, key_id: str) -> ApiKey:
    """Return one key of the user's apps.

    Raises:
        NotFound: no such key, or someone else's.
    """
    return _own(ApiKey.objects.filter(app__user=user).select_related("app"), key_id)


def personal_tokens_of(user: User) -> QuerySet[AccessToken]:
    """Return every personal token of a user, revoked ones too, newest first."""
    return AccessToken.objects.filter(user=user, kind=TokenKind.PERSONAL).order_by("-id")


def live_personal_tokens_of(user: User) -> QuerySet[AccessToken]:
    """Return the personal tokens that are neither revoked nor expired."""
    return personal_tokens_of(user).filter(revoked_at=None, expires__gt=timezone.now())


def personal_token_of(user: User, token_id: str) -> AccessToken:
    """Return one personal token of the user.

    Raises:
        NotFound: no such token, or someone else's.
    """
    return _own(personal_tokens_of(user), token_id)


def _own(rows: QuerySet[M], row_id: str) -> M:
    row = rows.filter(pk=parse_id(str(row_id))).first()
    if row is None:
        raise NotFound
    return row

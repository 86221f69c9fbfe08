"""What is asked about developers, their apps and credentials."""

from django.db.models import Q, QuerySet
from django.utils import timezone

from marketplace.accounts.models import User

from .models import AccessToken, ApiKey, App, ApplicationMessage, AppScope, DeveloperApplication, ScopeReview
from .models.applications import ApplicationStatus
from .models.apps import ReviewStatus
from .models.credentials import TokenKind


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


def personal_tokens_of(user: User) -> QuerySet[AccessToken]:
    """Return every personal token of a user, revoked ones too, newest first."""
    return AccessToken.objects.filter(user=user, kind=TokenKind.PERSONAL).order_by("-id")


def live_personal_tokens_of(user: User) -> QuerySet[AccessToken]:
    """Return the personal tokens that are neither revoked nor expired."""
    return personal_tokens_of(user).filter(revoked_at=None, expires__gt=timezone.now())

"""Reads of developers, their apps and credentials."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.db.models import Exists, Max, OuterRef, Prefetch, Q, QuerySet, Subquery

from marketplace.accounts.models import User
from marketplace.core.access import CredentialKind
from marketplace.core.scopes import Scope
from marketplace.review.waiting import Wait, wait_of

from .models import (
    AccessToken,
    ApiKey,
    App,
    AppScope,
    Consent,
    DeveloperApplication,
    ScopeReview,
    SpendingLimit,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
)
from .models.applications import ApplicationStatus
from .models.apps import AppStatus, ScopeReviewStatus
from .models.credentials import AccessTokenQuerySet, ApiKeyQuerySet, TokenKind
from .principals import Principal


def is_approved_developer(user: User) -> bool:
    """Tell whether the user has an approved application."""
    return DeveloperApplication.objects.filter(user=user, status=ApplicationStatus.APPROVED).exists()


def current_application(user: User) -> DeveloperApplication | None:
    """Return the user's newest application, which is the open or approved one if one exists; None without any."""
    return DeveloperApplication.objects.filter(user=user).order_by("-id").first()


def wait_of_application(application: DeveloperApplication | None) -> Wait | None:
    """Return how long an application will wait, None if none waits for a reviewer."""
    return None if application is None else wait_of(application, waiting={"status": ApplicationStatus.PENDING})


def apps_of(user: User) -> QuerySet[App]:
    """Return the user's apps with their scope rows, newest first."""
    return App.objects.filter(user=user).prefetch_related("scope_rows").order_by("-id")


@dataclass(frozen=True)
class Progress:
    """The steps of the onboarding that an approved developer has completed with any app."""

    has_app: bool = False
    has_grant: bool = False
    has_key: bool = False


def progress_of(user: User) -> Progress:
    """Return the progress of an approved developer, in one query; expired and revoked keys count too."""
    has_key = Exists(ApiKey.objects.filter(app=OuterRef("pk")))
    apps = list(App.objects.filter(user=user).values_list("granted_scopes", has_key))
    return Progress(has_app=bool(apps), has_grant=any(scopes for scopes, _ in apps), has_key=any(key for _, key in apps))


def open_scope_review_of(app: App) -> ScopeReview | None:
    """Return the app's undecided request for scopes, None when nothing waits."""
    return ScopeReview.objects.filter(app=app, status=ScopeReviewStatus.PENDING).first()


def undecided_scopes_of(app: App) -> QuerySet[AppScope]:
    """Return the scopes of the app's open request."""
    return app.scope_rows.filter(granted=None)


def wait_of_scopes(app: App) -> Wait | None:
    """Return how long the app's request for scopes will wait, None if none waits."""
    review = open_scope_review_of(app)
    return None if review is None else wait_of(review, since="requested_at", waiting={"status": ScopeReviewStatus.PENDING})


def keys_of(app: App) -> ApiKeyQuerySet:
    """Return every key of an app, revoked ones too, newest first."""
    return ApiKey.objects.filter(app=app).order_by("-id")


def tokens_without_app_of(user: User) -> AccessTokenQuerySet:
    """Return every token that a user created without an app, for the API or the MCP server, revoked ones too, newest first."""
    return AccessToken.objects.filter(user=user, application=None).order_by("-id")


def mcp_tokens_of(app: App) -> AccessTokenQuerySet:
    """Return the MCP tokens created in the dashboard, revoked ones too, newest first; OAuth tokens have no name."""
    return AccessToken.objects.filter(application=app, kind=TokenKind.MCP).exclude(name="").order_by("-id")


def developer_name(app: App) -> str:
    """Return the name of an app's developer for users: the reviewed company or the person, never the email address.

    For a client with a metadata document it is the document's host.
    """
    if app.user is None:
        return urlsplit(app.client_id).netloc
    application = DeveloperApplication.objects.filter(user=app.user, status=ApplicationStatus.APPROVED).first()
    return (application.company if application else "") or app.user.name or "a developer who gives no name"


@dataclass(frozen=True)
class Connection:
    """An app that a user has connected."""

    app: App
    # Those that the user allowed and the app is still granted.
    scopes: list[Scope]
    # When the user first allowed it.
    since: datetime
    last_used_at: datetime | None


def connections_of(user: User) -> list[Connection]:
    """Return the apps that the user has connected, by name, suspended ones too."""
    consents = Consent.objects.filter(user=user, withdrawn_at=None).select_related("app").order_by("app__name", "app_id", "given_at")
    by_app: dict[App, list[Consent]] = {}
    for consent in consents:
        by_app.setdefault(consent.app, []).append(consent)
    tokens = AccessToken.objects.filter(user=user, application__in=by_app).order_by()
    last_used = dict(tokens.values_list("application").annotate(Max("last_used_at")))
    return [
        Connection(
            app=app,
            scopes=[scope for scope in Scope if scope in app.scopes and any(scope in consent.scopes for consent in given)],
            since=given[0].given_at,
            last_used_at=last_used.get(app.pk),
        )
        for app, given in by_app.items()
    ]


def connected_apps_of(user: User) -> QuerySet[App]:
    """Return the apps that the user has connected, suspended ones too."""
    return App.objects.filter(consents__user=user, consents__withdrawn_at=None).distinct()


def owner_spending_limits(owner: User, spender: App | AccessToken) -> QuerySet[SpendingLimit]:
    """Return the limits that the owner set for the app or token."""
    return spender.spending_limits.filter(owner=owner)


def app_limits_of(app: App) -> QuerySet[SpendingLimit]:
    """Return the limits that staff set for an app, which apply to each wallet by itself."""
    return app.spending_limits.filter(owner=None)


def spending_tokens_of(user: User) -> QuerySet[AccessToken]:
    """Return the user's active tokens without an app that may spend."""
    return tokens_without_app_of(user).active().filter(scope__contains=Scope.WALLET_SPEND)


def spending_apps_of(user: User) -> QuerySet[App]:
    """Return the apps that may spend from the user's wallet: the user's own and those with a consent to spend."""
    allowed = Consent.objects.filter(user=user, withdrawn_at=None, scope__contains=Scope.WALLET_SPEND)
    apps = App.objects.filter(status=AppStatus.APPROVED, granted_scopes__contains=Scope.WALLET_SPEND).exclude(user__is_active=False)
    return apps.filter(Q(user=user) | Q(pk__in=allowed.values("app"))).order_by("name", "pk")


def spenders_of(user: User) -> list[AccessToken | App]:
    """Return the tokens and apps that may spend from the user's wallet, tokens first.

    Each has `limits`, those of the user, and an app also `app_limits`, those of staff.
    """
    limits = Prefetch("spending_limits", SpendingLimit.objects.filter(owner=user), to_attr="limits")
    app_limits = Prefetch("spending_limits", SpendingLimit.objects.filter(owner=None), to_attr="app_limits")
    return [*spending_tokens_of(user).prefetch_related(limits), *spending_apps_of(user).prefetch_related(limits, app_limits)]


def spending_limits_for(principal: Principal) -> list[SpendingLimit]:
    """Return the limits of the caller's spending, in one query: the owner's for the app or token, and the app's."""
    if principal.app is None:
        return list(SpendingLimit.objects.filter(token=principal.credential.pk, owner=principal.user))
    return list(SpendingLimit.objects.filter(Q(owner=principal.user) | Q(owner=None), app=principal.app))


def needs_spending_limit(principal: Principal) -> bool:
    """Tell whether the caller can spend only in currencies for which the owner has set a limit.

    This holds for tokens without an app, apps of other developers, and the developer console, where a click makes the call; keys
    and tokens of the owner's own app need no limit.
    """
    return principal.app is None or principal.kind == CredentialKind.CONSOLE or principal.app.user_id != principal.user.pk


def webhook_endpoints_of(app: App) -> QuerySet[WebhookEndpoint]:
    """Return an app's endpoints with their subscriptions."""
    return WebhookEndpoint.objects.filter(app=app).prefetch_related("subscriptions").order_by("id")


def deliveries_to(endpoint: WebhookEndpoint) -> QuerySet[WebhookDelivery]:
    """Return the deliveries to an endpoint, newest first, each with the outcome of its last attempt."""
    last = WebhookAttempt.objects.filter(delivery=OuterRef("pk")).order_by("-id")
    results = {f"last_{name}": Subquery(last.values(name)[:1]) for name in ("http_status", "error", "milliseconds", "at")}
    return WebhookDelivery.objects.filter(endpoint=endpoint).select_related("event").annotate(**results).order_by("-created_at", "-id")

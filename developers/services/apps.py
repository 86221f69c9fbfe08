"""Apps: create, set the logo, suspend, reinstate."""

import hashlib
from collections.abc import Mapping, Sequence

from django.conf import settings
from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.scopes import Scope
from marketplace.core.transitions import lock

from .. import bounds
from ..errors import LogoNotReviewable, TooManyApps
from ..models import App, AppLogo, AppOrigin
from ..models.apps import AppStatus
from ..redirects import origin_of
from ..selectors import open_scope_review_of
from .scopes import queue_request
from .states import APP_TRANSITIONS, lock_approved_application, notify_developer


@transaction.atomic
def create_app(*, user: User, name: str, purpose: str, scopes: Mapping[Scope, str], actor: User) -> App:
    """Create an app that requests scopes, each with its reason. It waits for a reviewer's decision.

    Raises:
        DeveloperNotApproved: the user is not an approved developer.
        ScopeNotAvailable: a scope that no app can have.
        TooManyApps: the user has the maximum number of apps that are not rejected.
    """
    lock_approved_application(user)
    if App.objects.filter(user=user).exclude(status=AppStatus.REJECTED).count() >= bounds.MAX_APPS:
        raise TooManyApps(maximum=bounds.MAX_APPS)
    app = App.objects.create(
        user=user,
        name=texts.clean_line(name, "name"),
        purpose=texts.clean_text(purpose, "purpose"),
        # Programs on users' computers cannot keep a secret: PKCE protects them.
        client_type=App.CLIENT_PUBLIC,
        client_secret="",
        hash_client_secret=False,
        authorization_grant_type=App.GRANT_AUTHORIZATION_CODE,
    )
    audit.record("app.create", app, actor=actor, to_state=app.status, name=app.name)
    queue_request(app, scopes, actor)
    return app


def write_redirect_uris(*, app: App, uris: Sequence[str], actor: User | None) -> None:
    """Save the redirect URIs of an app that the caller has locked, with their origins."""
    before, app.redirect_uris = app.redirect_uris, " ".join(uris)
    if before == app.redirect_uris:
        return
    app.save(update_fields=["redirect_uris", "updated"])
    app.origins.all().delete()
    AppOrigin.objects.bulk_create(AppOrigin(app=app, origin=origin) for origin in sorted(set(map(origin_of, uris))))
    audit.record("app.set_redirect_uris", app, actor=actor, before=before.split(), after=list(uris))


@transaction.atomic
def set_app_logo(*, app: App, image: bytes, actor: User) -> None:
    """Set the app's logo, which users see once a reviewer has approved it with the open request for scopes, in a sandbox at once.

    The image is a JPEG that the confined process made; an empty one removes the logo.

    Raises:
        LogoNotReviewable: no request for scopes is open, with which a reviewer would see it.
    """
    app = lock(App.objects.all(), pk=app.pk)
    if image and not settings.SANDBOX and open_scope_review_of(app) is None:
        raise LogoNotReviewable
    AppLogo.objects.filter(app=app).delete()
    if image:
        AppLogo.objects.create(app=app, image=image, digest=hashlib.sha256(image).hexdigest(), approved=settings.SANDBOX)
    audit.record("app.change_logo", app, actor=actor, bytes=len(image))


@transaction.atomic
def suspend_app(*, app: App, reason: str, actor: User) -> App:
    """Suspend an app at once; its granted scopes are kept for when it is reinstated.

    Only its status changes, which is checked whenever the app acts (`App.is_usable`), receives a webhook (`webhooks.publishing`,
    `webhooks.delivering`) or is offered for spending (`spending_apps_of`), and when a browser asks whether its pages may call the API
    (`origins.is_open_to_origin`).

    Raises:
        InvalidTransition: the app is not approved.
        SelfReview: the app is the actor's.
    """
    app = APP_TRANSITIONS.decide(App.objects.all(), "suspend", pk=app.pk, actor=actor, reason=reason)
    notify_developer(app, "developers/app_suspended", reason=app.status_reason)
    return app


@transaction.atomic
def reinstate_app(*, app: App, reason: str, actor: User) -> App:
    """Reinstate a suspended app with its granted scopes; its keys work again.

    Raises:
        DeveloperNotApproved: the developer's approval was withdrawn.
        InvalidTransition: the app is not suspended.
        SelfReview: the app is the actor's.
    """
    if app.user is not None:
        lock_approved_application(app.user)
    app = APP_TRANSITIONS.decide(App.objects.all(), "reinstate", pk=app.pk, actor=actor, reason=reason)
    notify_developer(app, "developers/app_reinstated", reason=app.status_reason)
    return app

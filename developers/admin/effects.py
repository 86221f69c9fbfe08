"""The effects of decisions, as sentences for the confirmation page."""

from typing import Any

from django.db.models import Q
from django.utils import timezone

from marketplace.ui.formatting import relative_time

from ..models import AccessToken, ApiKey, App, DeveloperApplication, WebhookDelivery, WebhookEndpoint
from ..models.apps import AppStatus
from ..models.webhooks import DeliveryStatus


def suspension_effects(app: App) -> list[str]:
    """Return the effects of suspending an app."""
    return _stops(Q(app=app), Q(application=app))


def withdrawal_effects(application: DeveloperApplication) -> list[str]:
    """Return the effects of withdrawing a developer's approval."""
    apps = App.objects.filter(user=application.user_id, status=AppStatus.APPROVED)
    return [f"Apps suspended: {apps.count()}.", *_stops(Q(app__in=apps), Q(application__in=apps))]


def key_revocation_effects(key: ApiKey) -> list[str]:
    """Return which key is revoked and when it was last used."""
    return [f"The key that ends in {key.last_four}, of the app {key.app}. {_used(key)}"]


def token_revocation_effects(token: AccessToken) -> list[str]:
    """Return which token is revoked and when it was last used."""
    return [f"The token that ends in {token.hint}, of {token.user}. {_used(token)}"]


def disabling_effects(endpoint: WebhookEndpoint) -> list[str]:
    """Return the effects of disabling an endpoint."""
    waiting = WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING).count()
    return [f"Pending deliveries that will fail: {waiting}."]


def _stops(of_keys: Q, of_tokens: Q) -> list[str]:
    now, unrevoked = timezone.now(), Q(revoked_at__isnull=True)
    keys = ApiKey.objects.filter(of_keys, unrevoked, Q(expires_at__isnull=True) | Q(expires_at__gt=now))
    tokens = AccessToken.objects.filter(of_tokens, unrevoked, expires__gt=now)
    return [f"Active keys that will stop working: {keys.count()}.", f"Active tokens that will stop working: {tokens.count()}."]


def _used(credential: Any) -> str:
    used = credential.last_used_at
    return "It has never been used." if used is None else f"It was used {relative_time(used)}."

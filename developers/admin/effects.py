"""The effects of decisions, as sentences for the confirmation page."""

from collections.abc import Iterable

from marketplace.ui.formatting import relative_time

from ..models import AccessToken, ApiKey, App, DeveloperApplication, WebhookDelivery, WebhookEndpoint
from ..models.apps import AppStatus
from ..models.webhooks import DeliveryStatus


def suspension_effects(app: App) -> list[str]:
    """Return how many credentials stop working when an app is suspended."""
    return _credentials_of([app])


def withdrawal_effects(application: DeveloperApplication) -> list[str]:
    """Return the effects of withdrawing a developer's approval."""
    apps = App.objects.filter(user=application.user_id, status=AppStatus.APPROVED)
    return [f"Apps suspended: {apps.count()}.", *_credentials_of(apps)]


def revocation_effects(credential: ApiKey | AccessToken) -> list[str]:
    """Return whose key or token is revoked and when it was last used."""
    what, owner = ("key", f"the app {credential.app}") if isinstance(credential, ApiKey) else ("token", credential.user)
    used = f"It was used {relative_time(credential.last_used_at)}." if credential.last_used_at else "It has never been used."
    return [f"The {what} that ends in {credential.hint}, of {owner}. {used}"]


def disabling_effects(endpoint: WebhookEndpoint) -> list[str]:
    """Return the effects of disabling an endpoint."""
    waiting = WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING).count()
    return [f"Pending deliveries that will fail: {waiting}."]


def _credentials_of(apps: Iterable[App]) -> list[str]:
    keys = ApiKey.objects.active().filter(app__in=apps)
    tokens = AccessToken.objects.active().filter(application__in=apps)
    return [f"Active keys that will stop working: {keys.count()}.", f"Active tokens that will stop working: {tokens.count()}."]

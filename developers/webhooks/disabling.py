"""Disables an endpoint: nothing more is sent to it until its owner enables it again."""

from datetime import timedelta

from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.mails import mail

from ..models import WebhookDelivery, WebhookEndpoint
from ..models.webhooks import DeliveryStatus

GIVEN_UP_AFTER = timedelta(days=5)


def too_long_failing(endpoint: WebhookEndpoint) -> bool:
    """Tell whether nothing has arrived for so long that it is given up."""
    return endpoint.failing_since is not None and timezone.now() - endpoint.failing_since >= GIVEN_UP_AFTER


def disable(endpoint: WebhookEndpoint, reason: str, *, actor: User | None) -> None:
    """Disable a locked endpoint, end what waits for it, and tell its owner."""
    endpoint.disabled_at, endpoint.disabled_reason = timezone.now(), reason
    endpoint.save(update_fields=["disabled_at", "disabled_reason"])
    waiting = WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
    waiting.update(status=DeliveryStatus.FAILED, ended_at=endpoint.disabled_at)
    audit.record("webhook.disable", endpoint, actor=actor, from_state="enabled", to_state="disabled", reason=reason)
    if actor is None or actor.pk != endpoint.app.user_id:
        mail(endpoint.app.developer, "developers/webhook_disabled", app=endpoint.app, endpoint=endpoint, reason=reason)

"""How long events and the log of their deliveries are kept."""

from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from ..models import WebhookDelivery, WebhookMessage
from ..models.webhooks import DeliveryStatus

KEPT = timedelta(days=30)


def old_messages() -> QuerySet[WebhookMessage]:
    """Return the old events without pending deliveries."""
    pending = WebhookDelivery.objects.filter(message=OuterRef("pk"), status=DeliveryStatus.PENDING)
    return WebhookMessage.objects.filter(~Exists(pending), created_at__lt=timezone.now() - KEPT).order_by("pk")


def old_deliveries() -> QuerySet[WebhookDelivery]:
    """Return the deliveries of those events."""
    return WebhookDelivery.objects.filter(message__in=old_messages().order_by())

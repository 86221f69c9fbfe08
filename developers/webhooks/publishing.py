"""Publishes webhook events: the event is written in the transaction of the change, and a job creates its deliveries."""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from marketplace.jobs.policy import job

from ..event_types import EventType, may_receive
from ..models import WebhookDelivery, WebhookEndpoint, WebhookMessage
from ..models.apps import AppStatus
from .delivering import schedule_delivery

# Edits of one asset come in groups.
SETTLING = timedelta(seconds=30)
STEP = 500


def link(path: str) -> str:
    """Return where an API client reads the whole of it."""
    return f"{settings.BASE_URL}/api/v1/{path}"


def publish_event(
    *,
    event: EventType,
    subject: uuid.UUID,
    data: Mapping[str, Any],
    app_id: uuid.UUID | None = None,
    owner_id: uuid.UUID | None = None,
    settling: bool = False,
) -> WebhookMessage | None:
    """Tell of an event, in the transaction of its change; one query where nobody listens.

    Args:
        event: What happened.
        subject: To what.
        data: Ids and links, as documented.
        app_id: Only this app may hear of it.
        owner_id: Only apps of this developer may.
        settling: More of the same may follow within moments, and is told once.
    """
    message = WebhookMessage(type=event.value, subject=str(subject), data=dict(data), app_id=app_id, owner_id=owner_id)
    if not _audience(message).exists():
        return None
    if settling:
        alike = WebhookMessage.objects.filter(
            subject=message.subject, type=message.type, settles_at__gt=timezone.now() + timedelta(seconds=1)
        )
        if alike.exists():
            return None
        message.settles_at = message.created_at + SETTLING
    with transaction.atomic():
        message.save(force_insert=True)
        task = fan_out if message.settles_at is None else fan_out.using(run_after=message.settles_at)
        task.enqueue(str(message.pk))
    return message


@job()
def fan_out(message_id: str) -> None:
    """Write a delivery for each endpoint that may receive an event, and schedule these deliveries."""
    message = WebhookMessage.objects.filter(pk=message_id).first()
    if message is None:
        return
    audience = _audience(message).select_related("app").order_by("pk")
    last: uuid.UUID | None = None
    while endpoints := list((audience.filter(pk__gt=last) if last else audience)[:STEP]):
        last = endpoints[-1].pk
        heard = [endpoint for endpoint in endpoints if may_receive(message.type, endpoint.app.scopes)]
        paused = [endpoint for endpoint in heard if endpoint.is_paused]
        with transaction.atomic():
            WebhookDelivery.objects.bulk_create([WebhookDelivery(message=message, endpoint=one) for one in heard], ignore_conflicts=True)
            for endpoint in heard:
                if endpoint not in paused:
                    schedule_delivery(endpoint)
        # Each of these is locked for a moment: in no transaction that holds others.
        for endpoint in paused:
            schedule_delivery(endpoint)


def _audience(message: WebhookMessage) -> QuerySet[WebhookEndpoint]:
    """Return the endpoints that listen, of apps that may hear of it and may act at all now."""
    endpoints = WebhookEndpoint.objects.filter(
        subscriptions__event=message.type, disabled_at=None, app__status=AppStatus.APPROVED, app__user__is_active=True
    )
    if message.app_id is not None:
        endpoints = endpoints.filter(app_id=message.app_id)
    if message.owner_id is not None:
        endpoints = endpoints.filter(app__user_id=message.owner_id)
    return endpoints

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
MERGE_WINDOW = timedelta(seconds=30)
STEP = 500


def link(path: str) -> str:
    """Return the URL of a resource of the API."""
    return f"{settings.BASE_URL}/api/v1/{path}"


def publish_event(
    *,
    event: EventType,
    subject: uuid.UUID,
    data: Mapping[str, Any],
    app_id: uuid.UUID | None = None,
    owner_id: uuid.UUID | None = None,
    merge: bool = False,
) -> WebhookMessage | None:
    """Publish an event, in the transaction of its change; one query if no endpoint subscribes to it.

    Only the app, or the apps of the owner, receive it if one is given. With `merge`, later events of the same type about the same
    subject are left out until `MERGE_WINDOW` has passed.
    """
    message = WebhookMessage(type=event.value, subject=str(subject), data=dict(data), app_id=app_id, owner_id=owner_id)
    if not _audience(message).exists():
        return None
    if merge:
        alike = WebhookMessage.objects.filter(
            subject=message.subject, type=message.type, merges_until__gt=timezone.now() + timedelta(seconds=1)
        )
        if alike.exists():
            return None
        message.merges_until = message.created_at + MERGE_WINDOW
    with transaction.atomic():
        message.save(force_insert=True)
        task = fan_out if message.merges_until is None else fan_out.using(run_after=message.merges_until)
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
        receivers = [endpoint for endpoint in endpoints if may_receive(message.type, endpoint.app.scopes)]
        paused = [endpoint for endpoint in receivers if endpoint.is_paused]
        with transaction.atomic():
            WebhookDelivery.objects.bulk_create(
                [WebhookDelivery(message=message, endpoint=one) for one in receivers], ignore_conflicts=True
            )
            for endpoint in receivers:
                if endpoint not in paused:
                    schedule_delivery(endpoint)
        # Scheduling locks a paused endpoint, so each gets a transaction of its own.
        for endpoint in paused:
            schedule_delivery(endpoint)


def _audience(message: WebhookMessage) -> QuerySet[WebhookEndpoint]:
    """Return the enabled endpoints that subscribe to the event, of approved apps in its audience."""
    endpoints = WebhookEndpoint.objects.filter(
        subscriptions__event=message.type, disabled_at=None, app__status=AppStatus.APPROVED, app__user__is_active=True
    )
    if message.app_id is not None:
        endpoints = endpoints.filter(app_id=message.app_id)
    if message.owner_id is not None:
        endpoints = endpoints.filter(app__user_id=message.owner_id)
    return endpoints

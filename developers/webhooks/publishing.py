"""Publishes events: the event is written in the caller's transaction, and a job creates its deliveries to webhooks."""

import uuid
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from marketplace.jobs.policy import job

from ..event_types import EventType, may_receive
from ..models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from ..models.apps import AppStatus
from .delivering import schedule_delivery

# Edits of one asset come in groups.
MERGE_WINDOW = timedelta(seconds=30)
_BATCH = 500


def api_url(path: str) -> str:
    """Return the URL of a resource of the API."""
    return f"{settings.BASE_URL}/api/v1/{path}"


def new_event(
    event_type: EventType, *, subject: uuid.UUID, data: dict[str, Any], app_id: uuid.UUID | None = None, owner_id: uuid.UUID | None = None
) -> WebhookEvent:
    """Return an event to publish: to the app, or the apps of the owner, or to all without either."""
    return WebhookEvent(type=event_type.value, subject=str(subject), data=data, app_id=app_id, owner_id=owner_id)


def publish_events(*events: WebhookEvent) -> None:
    """Publish events, in the caller's transaction. Apps can list them, and jobs send them to the endpoints that subscribe to them."""
    with transaction.atomic(savepoint=False):
        WebhookEvent.objects.bulk_create(events)
        # Most events have no endpoint: one query then, instead of jobs.
        if WebhookEndpoint.objects.filter(reduce(or_, map(_receives, events))).exists():
            for each in events:
                task = fan_out if each.merges_until is None else fan_out.using(run_after=each.merges_until)
                task.enqueue(str(each.pk))


def publish_merged(event: WebhookEvent) -> None:
    """Publish an event that stands for all of its type about the same subject until `MERGE_WINDOW` has passed; the later ones are left out."""
    # With a margin of one second: the caller's transaction must be committed before the earlier event, which stands for this one, is sent.
    alike = WebhookEvent.objects.filter(subject=event.subject, type=event.type, merges_until__gt=timezone.now() + timedelta(seconds=1))
    if not alike.exists():
        event.merges_until = event.created_at + MERGE_WINDOW
        publish_events(event)


@job()
def fan_out(event_id: str) -> None:
    """Write a delivery for each endpoint that may receive an event, and schedule these deliveries."""
    event = WebhookEvent.objects.filter(pk=event_id).first()
    if event is None:
        return
    audience = WebhookEndpoint.objects.filter(_receives(event)).select_related("app").order_by("pk")
    last: uuid.UUID | None = None
    while endpoints := list((audience.filter(pk__gt=last) if last else audience)[:_BATCH]):
        last = endpoints[-1].pk
        receivers = [endpoint for endpoint in endpoints if may_receive(event.type, endpoint.app.scopes)]
        paused = [endpoint for endpoint in receivers if endpoint.is_paused]
        with transaction.atomic():
            WebhookDelivery.objects.bulk_create([WebhookDelivery(event=event, endpoint=one) for one in receivers], ignore_conflicts=True)
            for endpoint in receivers:
                if endpoint not in paused:
                    schedule_delivery(endpoint)
        # Scheduling locks a paused endpoint, so each gets a transaction of its own.
        for endpoint in paused:
            schedule_delivery(endpoint)


def _receives(event: WebhookEvent) -> Q:
    """Return the condition for enabled endpoints that subscribe to the event, of approved apps in its audience."""
    receives = Q(subscriptions__event=event.type, disabled_at=None, app__status=AppStatus.APPROVED, app__user__is_active=True)
    if event.app_id is not None:
        receives &= Q(app_id=event.app_id)
    if event.owner_id is not None:
        receives &= Q(app__user_id=event.owner_id)
    return receives

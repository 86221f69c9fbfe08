"""Delivers events to webhook endpoints, with retries, and disables endpoints that keep failing."""

import time
import uuid
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django_tasks.base import Task

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.encryption import DecryptionFailed
from marketplace.core.errors import NotFound
from marketplace.core.transitions import lock
from marketplace.http import outbound
from marketplace.jobs.policy import WEBHOOKS, Retries, job
from marketplace.jobs.schedule import interrupted
from marketplace.ui.mail import mail

from ..event_types import may_receive
from ..models import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from ..models.webhooks import DeliveryStatus
from .signing import body_of, headers_for

GIVEN_UP_AFTER = timedelta(days=5)
TIMEOUT_SECONDS = 10.0
RESPONSE_BYTES = 1024
# Delays of one delivery after failed attempts, as Standard Webhooks recommends; after the last one the delivery fails.
RETRY_DELAYS = [timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 36_000)]
# The pause of the whole endpoint, which doubles with each failure in a row, unless a `Retry-After` asks for a longer one.
LONGEST_PAUSE = timedelta(minutes=10)
LONGEST_RETRY_AFTER = timedelta(hours=10)
RUN_SECONDS = 10.0
# Longer than a run with its last request.
LEASE = timedelta(seconds=60)
# Slow and failing endpoints are served after the others.
SLOW_MS = 2000
SLOW_PRIORITY = -20
GONE = 410


def has_failed_too_long(endpoint: WebhookEndpoint, delivery: WebhookDelivery) -> bool:
    """Tell whether this failure disables the endpoint: no delivery has succeeded for `GIVEN_UP_AFTER`, and this one has used up its attempts.

    At a busy endpoint attempts wait for each other, so a delivery may not use them up in time. There it is enough that its first attempt is
    older than all `RETRY_DELAYS` together, unless it was sent again by hand: its attempts begin anew then, but its log has the old ones.
    The time before the first attempt does not count: perhaps no worker was running, or the app was suspended.
    """
    now = timezone.now()
    if endpoint.failing_since is None or now - endpoint.failing_since < GIVEN_UP_AFTER:
        return False
    if delivery.status == DeliveryStatus.FAILED:
        return True
    first = delivery.log.order_by("at").values_list("at", flat=True).first()
    return first is not None and now - first >= sum(RETRY_DELAYS, timedelta()) and delivery.log.count() == delivery.attempts


def disable_locked(endpoint: WebhookEndpoint, reason: str, *, actor: User | None) -> None:
    """Disable a locked endpoint, fail its pending deliveries, and notify its owner."""
    endpoint.disabled_at, endpoint.disabled_reason = timezone.now(), reason
    endpoint.save(update_fields=["disabled_at", "disabled_reason"])
    waiting = WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
    waiting.update(status=DeliveryStatus.FAILED, ended_at=endpoint.disabled_at)
    audit.record("webhook.disable", endpoint, actor=actor, from_state="enabled", to_state="disabled", reason=reason)
    if actor is None or actor.pk != endpoint.app.user_id:
        mail(endpoint.app.developer, "developers/webhook_disabled", app=endpoint.app, endpoint=endpoint, reason=reason)


def schedule_delivery(endpoint: WebhookEndpoint) -> None:
    """Schedule the deliveries that are due for an endpoint: now, or at the end of its pause.

    Each event enqueues a job for each endpoint. Most of them find that the job before has sent everything, and end after a query or
    two, which costs less than to find out reliably whether such a job is queued already. No endpoint waits for another.
    """
    if endpoint.is_paused:
        _schedule_next(endpoint.pk)
    else:
        _task_for(endpoint).enqueue(str(endpoint.pk))


def _end_lease(endpoint_id: str) -> None:
    WebhookEndpoint.objects.filter(pk=endpoint_id).update(leased_until=None)


# A worker that stops puts its job back into the queue and ends the lease, so that the next worker need not wait; after a kill it waits
# until the lease expires.
# `retries` is for a job that crashes; failed requests have `RETRY_DELAYS`.
@job(queue_name=WEBHOOKS, retries=Retries(attempts=50, first_seconds=5, longest_seconds=600), release=_end_lease)
def deliver(endpoint_id: str) -> None:
    """Send the due deliveries of an endpoint for a few seconds, and schedule the next job."""
    now = timezone.now()
    free = WebhookEndpoint.objects.filter(Q(leased_until=None) | Q(leased_until__lte=now), pk=endpoint_id)
    # If another worker has the lease, the next job runs after its end, in case that worker was killed.
    if free.update(leased_until=now + LEASE):
        try:
            _deliver_due(uuid.UUID(endpoint_id))
        finally:
            _end_lease(endpoint_id)
    _schedule_next(uuid.UUID(endpoint_id))


def _task_for(endpoint: WebhookEndpoint) -> Task[[str], None]:
    slow = bool(endpoint.failures) or endpoint.last_ms > SLOW_MS
    return deliver.using(priority=SLOW_PRIORITY) if slow else deliver


def _deliver_due(endpoint_id: uuid.UUID) -> None:
    until = time.monotonic() + RUN_SECONDS
    while time.monotonic() < until and not interrupted.is_set():
        endpoint = WebhookEndpoint.objects.select_related("app__user").filter(pk=endpoint_id).first()
        if endpoint is None:
            return
        pending = WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
        if endpoint.disabled_at is not None or not endpoint.app.is_usable():
            pending.update(status=DeliveryStatus.CANCELLED, ended_at=timezone.now())
            return
        if endpoint.is_paused:
            return
        delivery = pending.filter(next_at__lte=timezone.now()).select_related("event").order_by("next_at").first()
        if delivery is None:
            return
        # The app may have lost the scopes since the event was published, or since an earlier attempt.
        if not may_receive(delivery.event.type, endpoint.app.scopes):
            pending.filter(pk=delivery.pk).update(status=DeliveryStatus.CANCELLED, ended_at=timezone.now())
            continue
        WebhookEndpoint.objects.filter(pk=endpoint_id).update(leased_until=timezone.now() + LEASE)
        try:
            attempt, retry_after = _send(endpoint, delivery)
            if not _record(delivery, attempt, retry_after):
                return
        except NotFound:
            # The endpoint was deleted during the call.
            return


def _schedule_next(endpoint_id: uuid.UUID) -> None:
    """Enqueue the next job for the time when a delivery is due and may be sent, once."""
    with transaction.atomic():
        endpoint = WebhookEndpoint.objects.select_for_update(no_key=True).filter(pk=endpoint_id, disabled_at=None).first()
        if endpoint is None:
            return
        pending = WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING)
        first = pending.order_by("next_at").values_list("next_at", flat=True).first()
        if first is None:
            return
        now = timezone.now()
        at = max(first, endpoint.paused_until or first, endpoint.leased_until or first)
        task = _task_for(endpoint)
        if at <= now:
            task.enqueue(str(endpoint_id))
        elif endpoint.next_job_at is None or not now < endpoint.next_job_at <= at:
            endpoint.next_job_at = at
            endpoint.save(update_fields=["next_job_at"])
            task.using(run_after=at).enqueue(str(endpoint_id))


def _send(endpoint: WebhookEndpoint, delivery: WebhookDelivery) -> tuple[WebhookAttempt, timedelta]:
    """Send an event; return the attempt, which is not saved yet, and the delay that the receiver asks for."""
    body = body_of(delivery.event)
    try:
        headers = headers_for(endpoint, delivery.event, body)
    except DecryptionFailed:
        return WebhookAttempt(milliseconds=0, error="The secret can't be decrypted any more: rotate it."), timedelta()
    began = time.monotonic()

    def took() -> int:
        return round((time.monotonic() - began) * 1000)

    try:
        response = outbound.request("POST", endpoint.url, headers=headers, body=body, seconds=TIMEOUT_SECONDS, max_bytes=RESPONSE_BYTES)
    except (outbound.Refused, outbound.Failed) as error:
        return WebhookAttempt(milliseconds=took(), error=str(error)[:200]), timedelta()
    text = "".join(char for char in response.body.decode(errors="replace") if char.isprintable() or char in "\n\t")
    return WebhookAttempt(milliseconds=took(), http_status=response.status, response=text), _retry_after(response)


def _retry_after(response: outbound.Response) -> timedelta:
    """Return the delay that the receiver asks for in `Retry-After`, if that is a number of seconds and not a date."""
    text = response.headers.get("Retry-After", "")
    if response.status not in {429, 503} or not text.isascii() or not text.isdecimal() or len(text) > 9:
        return timedelta()
    return min(timedelta(seconds=int(text)), LONGEST_RETRY_AFTER)


@transaction.atomic
def _record(delivery: WebhookDelivery, attempt: WebhookAttempt, retry_after: timedelta) -> bool:
    """Save an attempt and what follows from it; return whether to continue with this endpoint."""
    endpoint = lock(WebhookEndpoint.objects.select_related("app__user"), pk=delivery.endpoint_id)
    delivery = lock(WebhookDelivery.objects.all(), pk=delivery.pk)
    now = timezone.now()
    attempt.delivery, attempt.at = delivery, now
    attempt.save()
    delivery.attempts += 1
    endpoint.last_ms = attempt.milliseconds
    if attempt.succeeded:
        delivery.status, delivery.ended_at = DeliveryStatus.DELIVERED, now
        endpoint.failures, endpoint.failing_since, endpoint.paused_until, endpoint.last_delivered_at = 0, None, None, now
    else:
        _schedule_retry(endpoint, delivery, retry_after, now)
    delivery.save(update_fields=["status", "attempts", "next_at", "ended_at"])
    endpoint.save(update_fields=["failures", "failing_since", "paused_until", "last_delivered_at", "last_ms"])
    if endpoint.disabled_at is not None:
        return False
    if attempt.http_status == GONE:
        disable_locked(endpoint, "It responded with 410 (gone).", actor=None)
    elif not attempt.succeeded and has_failed_too_long(endpoint, delivery):
        disable_locked(endpoint, "No delivery succeeded for five days.", actor=None)
    return attempt.succeeded


def _schedule_retry(endpoint: WebhookEndpoint, delivery: WebhookDelivery, retry_after: timedelta, now: datetime) -> None:
    if delivery.attempts > len(RETRY_DELAYS):
        delivery.status, delivery.ended_at = DeliveryStatus.FAILED, now
    else:
        delivery.next_at = now + max(RETRY_DELAYS[delivery.attempts - 1], retry_after)
    endpoint.failures += 1
    endpoint.failing_since = endpoint.failing_since or now
    pause = min(LONGEST_PAUSE, timedelta(seconds=5 * 2 ** min(endpoint.failures - 1, 16)))
    endpoint.paused_until = now + max(pause, retry_after)

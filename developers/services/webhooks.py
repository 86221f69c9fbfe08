"""Webhook endpoints: create, change, rotate the secret, disable, enable, test, redeliver."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import timedelta
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core import bounds as core_bounds
from marketplace.core.errors import InsufficientScope, InvalidTransition
from marketplace.core.scopes import Scope
from marketplace.core.transitions import lock
from marketplace.http import outbound

from .. import bounds
from ..errors import AppNotApproved, TooManyTestEvents, TooManyWebhookEndpoints, WebhookUrlRefused
from ..event_types import OWN_STORE_EVENTS, PING, SUFFICIENT_SCOPES, may_subscribe
from ..models import App, WebhookDelivery, WebhookEndpoint, WebhookEvent, WebhookSubscription
from ..models.apps import AppStatus
from ..models.webhooks import DeliveryStatus
from ..webhooks.delivering import disable_locked, schedule_delivery
from ..webhooks.signing import encrypt_secret, new_secret, reencrypt_secret
from .states import lock_app

# Maximum number of test events to an endpoint, and of redeliveries of one delivery, in a minute.
TRIES_A_MINUTE = 5
DISABLED_BY_DEVELOPER = "Its developer disabled it."


@transaction.atomic
def create_endpoint(
    *,
    app: App,
    url: str,
    events: Iterable[str],
    actor: User,
    description: str = "",
    scopes: AbstractSet[Scope] | None = None,
) -> tuple[WebhookEndpoint, str]:
    """Create an endpoint and return it with its signing secret, which is not returned again.

    `scopes` are those of the key that asks for it; None for the developer.

    Raises:
        AppNotApproved: the app is not approved.
        InsufficientScope: a key with these scopes may not receive one of the events.
        InvalidInput: no event.
        TooManyWebhookEndpoints: the app has the maximum number of endpoints.
        WebhookUrlRefused: no events are sent to the address.
    """
    app = lock_app(app)
    if app.status != AppStatus.APPROVED:
        raise AppNotApproved("You can create webhooks while the app is approved.")
    if WebhookEndpoint.objects.filter(app=app).count() >= bounds.MAX_WEBHOOK_ENDPOINTS:
        raise TooManyWebhookEndpoints(maximum=bounds.MAX_WEBHOOK_ENDPOINTS)
    secret = new_secret()
    endpoint = WebhookEndpoint.objects.create(
        app=app,
        url=_clean_url(url),
        description=texts.clean_line(description, "description", required=False),
        encrypted_secret=encrypt_secret(secret),
    )
    _subscribe(endpoint, events)
    _require_scopes(endpoint, scopes)
    audit.record("webhook.create", endpoint, actor=actor, app=str(app.pk), site=_site(endpoint), events=endpoint.events)
    return endpoint, secret


@transaction.atomic
def change_endpoint(
    *,
    endpoint: WebhookEndpoint,
    actor: User,
    url: str | None = None,
    events: Iterable[str] | None = None,
    description: str | None = None,
    enabled: bool | None = None,
    scopes: AbstractSet[Scope] | None = None,
) -> WebhookEndpoint:
    """Change the address, the events and the description of an endpoint, enable it or disable it; None changes nothing.

    `scopes` are those of the key that asks for it; None for the developer.

    Raises:
        InsufficientScope: a key with these scopes may not receive one of the endpoint's events, before or after, and would do more than disable it.
        InvalidInput: no event.
        WebhookUrlRefused: no events are sent to the address.
    """
    endpoint = lock(WebhookEndpoint.objects.all(), pk=endpoint.pk)
    needs_scopes = enabled is not False or url is not None or events is not None
    if needs_scopes:
        # Nor may a key take from the endpoint the events that it may not list.
        _require_scopes(endpoint, scopes)
    if url is not None:
        endpoint.url = _clean_url(url)
    if description is not None:
        endpoint.description = texts.clean_line(description, "description", required=False)
    endpoint.save(update_fields=["url", "description"])
    if events is not None:
        _subscribe(endpoint, events)
    if needs_scopes:
        _require_scopes(endpoint, scopes)
    audit.record("webhook.change", endpoint, actor=actor, site=_site(endpoint), events=endpoint.events)
    if enabled is True and endpoint.disabled_at is not None:
        return enable_endpoint(endpoint=endpoint, actor=actor)
    if enabled is False and endpoint.disabled_at is None:
        return disable_endpoint(endpoint=endpoint, reason=DISABLED_BY_DEVELOPER, actor=actor)
    return endpoint


@transaction.atomic
def delete_endpoint(*, endpoint: WebhookEndpoint, actor: User) -> None:
    """Remove an endpoint with its log."""
    endpoint = lock(WebhookEndpoint.objects.all(), pk=endpoint.pk)
    audit.record("webhook.delete", endpoint, actor=actor, app=str(endpoint.app_id), site=_site(endpoint))
    endpoint.delete()


@transaction.atomic
def rotate_endpoint_secret(*, endpoint: WebhookEndpoint, overlap: timedelta, actor: User) -> str:
    """Create a new secret and return it, this once; during the overlap events are signed with both."""
    endpoint = lock(WebhookEndpoint.objects.all(), pk=endpoint.pk)
    secret = new_secret()
    endpoint.encrypted_old_secret = endpoint.encrypted_secret if overlap else ""
    endpoint.old_secret_until = timezone.now() + overlap if overlap else None
    endpoint.encrypted_secret = encrypt_secret(secret)
    endpoint.save(update_fields=["encrypted_secret", "encrypted_old_secret", "old_secret_until"])
    audit.record("webhook.rotate_secret", endpoint, actor=actor, overlap_hours=overlap // timedelta(hours=1))
    return secret


@transaction.atomic
def reencrypt_endpoint(*, endpoint: WebhookEndpoint) -> None:
    """Re-encrypt an endpoint's secrets with the current key, and delete an expired old one.

    Raises:
        DecryptionFailed: the key of a secret is gone.
    """
    endpoint = lock(WebhookEndpoint.objects.all(), pk=endpoint.pk)
    endpoint.encrypted_secret = reencrypt_secret(endpoint.encrypted_secret)
    if endpoint.old_secret_until is not None and timezone.now() < endpoint.old_secret_until:
        endpoint.encrypted_old_secret = reencrypt_secret(endpoint.encrypted_old_secret)
    else:
        endpoint.encrypted_old_secret, endpoint.old_secret_until = "", None
    endpoint.save(update_fields=["encrypted_secret", "encrypted_old_secret", "old_secret_until"])


@transaction.atomic
def disable_endpoint(*, endpoint: WebhookEndpoint, reason: str, actor: User) -> WebhookEndpoint:
    """Disable an endpoint: no events are sent to it.

    Raises:
        InvalidTransition: it is disabled already.
    """
    reason = texts.clean_text(reason, "reason")
    endpoint = lock(WebhookEndpoint.objects.select_related("app__user"), pk=endpoint.pk)
    if endpoint.disabled_at is not None:
        raise InvalidTransition("It is already disabled.", currentState="disabled")
    disable_locked(endpoint, reason, actor=actor)
    return endpoint


@transaction.atomic
def enable_endpoint(*, endpoint: WebhookEndpoint, actor: User) -> WebhookEndpoint:
    """Enable an endpoint for future events.

    Raises:
        InvalidTransition: it is enabled.
    """
    endpoint = lock(WebhookEndpoint.objects.all(), pk=endpoint.pk)
    if endpoint.disabled_at is None:
        raise InvalidTransition("It is enabled.", currentState="enabled")
    endpoint.disabled_at, endpoint.disabled_reason = None, ""
    endpoint.failing_since, endpoint.failures, endpoint.paused_until = None, 0, None
    endpoint.save(update_fields=["disabled_at", "disabled_reason", "failing_since", "failures", "paused_until"])
    audit.record("webhook.enable", endpoint, actor=actor, from_state="disabled", to_state="enabled")
    return endpoint


@transaction.atomic
def send_test_event(*, endpoint: WebhookEndpoint, actor: User) -> WebhookDelivery:
    """Send a `ping` to an endpoint at once.

    Raises:
        AppNotApproved: the app may not act now.
        InvalidTransition: the endpoint is disabled.
        TooManyTestEvents: the maximum was sent in the last minute.
    """
    endpoint = _lock_enabled(endpoint)
    recent = WebhookDelivery.objects.filter(endpoint=endpoint, event__type=PING, created_at__gt=timezone.now() - timedelta(minutes=1))
    if recent.count() >= TRIES_A_MINUTE:
        raise TooManyTestEvents
    event = WebhookEvent.objects.create(type=PING, data={"endpointId": str(endpoint.pk)}, subject=str(endpoint.pk), app_id=endpoint.app_id)
    audit.record("webhook.test", endpoint, actor=actor)
    delivery = WebhookDelivery.objects.create(event=event, endpoint=endpoint)
    schedule_delivery(endpoint)
    return delivery


@transaction.atomic
def redeliver_event(*, delivery: WebhookDelivery, actor: User) -> None:
    """Deliver an event again, with the same id and a new series of attempts.

    Raises:
        AppNotApproved: the app may not act now.
        InvalidTransition: it is still being delivered, or the endpoint is disabled.
        TooManyTestEvents: its last attempt ended it a moment ago.
    """
    endpoint = _lock_enabled(delivery.endpoint)
    delivery = lock(WebhookDelivery.objects.all(), pk=delivery.pk)
    if delivery.status == DeliveryStatus.PENDING:
        raise InvalidTransition("It is already being delivered.", currentState=delivery.status)
    if delivery.ended_at is not None and timezone.now() - delivery.ended_at < timedelta(minutes=1) / TRIES_A_MINUTE:
        raise TooManyTestEvents
    before, delivery.status = delivery.status, DeliveryStatus.PENDING
    delivery.attempts, delivery.next_at, delivery.ended_at = 0, timezone.now(), None
    delivery.save(update_fields=["status", "attempts", "next_at", "ended_at"])
    audit.record("webhook.redeliver", delivery, actor=actor, from_state=before, to_state=delivery.status)
    schedule_delivery(endpoint)


@transaction.atomic
def redeliver_failed_events(*, endpoint: WebhookEndpoint, actor: User) -> None:
    """Redeliver all failed deliveries, oldest first, with a new series of attempts each.

    Raises:
        AppNotApproved: the app may not act now.
        InvalidTransition: the endpoint is disabled, or nothing failed.
    """
    endpoint = _lock_enabled(endpoint)
    failed = WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.FAILED)
    count = failed.update(status=DeliveryStatus.PENDING, attempts=0, next_at=F("created_at"), ended_at=None)
    if not count:
        raise InvalidTransition("Nothing in the log has failed.")
    audit.record("webhook.redeliver_failed", endpoint, actor=actor, deliveries=count)
    schedule_delivery(endpoint)


def _lock_enabled(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """Return an enabled endpoint, locked, and end its pause: users who send an event should not wait."""
    endpoint = lock(WebhookEndpoint.objects.select_related("app__user"), pk=endpoint.pk)
    if not endpoint.app.is_usable():
        raise AppNotApproved("Events are sent while the app is approved.")
    if endpoint.disabled_at is not None:
        raise InvalidTransition("The endpoint is disabled: enable it first.", currentState="disabled")
    if endpoint.paused_until is not None:
        endpoint.paused_until = None
        endpoint.save(update_fields=["paused_until"])
    return endpoint


def _clean_url(url: str) -> str:
    text = texts.clean_line(url, "url", maximum=core_bounds.URL_CHARS)
    try:
        outbound.check_url(text)
    except outbound.Refused as error:
        raise WebhookUrlRefused(str(error)) from error
    return text


def _site(endpoint: WebhookEndpoint) -> str:
    """Return the part of an address that the audit log keeps: path and query may hold a token of the receiver's."""
    parts = urlsplit(endpoint.url)
    return f"{parts.scheme}://{parts.netloc}"


def _subscribe(endpoint: WebhookEndpoint, events: Iterable[str]) -> None:
    wanted = set(events)
    if not wanted:
        raise texts.invalid("events", "empty", "At least one event is required.")
    endpoint.subscriptions.exclude(event__in=wanted).delete()
    # Pending deliveries of other events are not sent: a key that may not list those events may change the address from now on.
    unwanted = WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.PENDING).exclude(event__type__in={*wanted, PING})
    unwanted.update(status=DeliveryStatus.CANCELLED, ended_at=timezone.now())
    rows = [WebhookSubscription(endpoint=endpoint, event=event) for event in sorted(wanted)]
    WebhookSubscription.objects.bulk_create(rows, ignore_conflicts=True)


def _require_scopes(endpoint: WebhookEndpoint, scopes: AbstractSet[Scope] | None) -> None:
    """Refuse an endpoint with events that a key with these scopes may not list."""
    if scopes is None:
        return
    for event in endpoint.events:
        if event in OWN_STORE_EVENTS:
            detail = f"The event {event} is about your own store. Manage its webhooks on the app's page: no key may."
            raise InsufficientScope(detail, requiredScope=Scope.VENDOR_MANAGE)
        if not may_subscribe(event, scopes):
            needed = sorted(SUFFICIENT_SCOPES[event])
            detail = f"The event {event} needs the scope {' or '.join(needed)}. Request one of them, then use a new key."
            raise InsufficientScope(detail, requiredScope=needed[0])

"""Webhook endpoints, the events that were published, and their deliveries."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.core import bounds
from marketplace.core.ids import new_id

from ..event_types import EventType
from .apps import App


class WebhookStatus(models.TextChoices):
    """The status of an endpoint."""

    ACTIVE = "Active"
    FAILING = "Failing"
    DISABLED = "Disabled"


class WebhookEndpoint(models.Model):
    """An address that an app's events are sent to. Its secrets are encrypted, not hashed: signing needs them."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="webhook_endpoints")
    url = models.CharField(max_length=bounds.URL_CHARS)
    description = models.CharField(max_length=bounds.NAME_CHARS, blank=True)
    encrypted_secret = models.TextField()
    # The previous secret, which signs as well until `old_secret_until`.
    encrypted_old_secret = models.TextField(blank=True)
    old_secret_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.TextField(blank=True)
    # Since when, and how often in a row, deliveries have failed: a failing endpoint is paused.
    failing_since = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0)
    paused_until = models.DateTimeField(null=True, blank=True)
    last_delivered_at = models.DateTimeField(null=True, blank=True)
    # How many milliseconds the last attempt took.
    last_ms = models.PositiveIntegerField(default=0)
    # One worker at a time sends to an endpoint.
    leased_until = models.DateTimeField(null=True, blank=True)
    # When the next delivery job is due.
    next_job_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        permissions = (("disable_webhookendpoint", "Can disable webhook endpoints"),)

    def __str__(self) -> str:
        return self.url

    @property
    def status(self) -> str:
        """The status for display."""
        if self.disabled_at is not None:
            return WebhookStatus.DISABLED
        return WebhookStatus.FAILING if self.failures else WebhookStatus.ACTIVE

    @property
    def is_paused(self) -> bool:
        """Tell whether deliveries are paused."""
        return self.paused_until is not None and self.paused_until > timezone.now()

    @property
    def events(self) -> list[str]:
        """The subscribed events, in the order of `EventType`."""
        wanted = {row.event for row in self.subscriptions.all()}
        return [event.value for event in EventType if event in wanted]


class WebhookSubscription(models.Model):
    """An event type that an endpoint subscribes to."""

    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="subscriptions")
    event = models.CharField(max_length=32)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("event", "endpoint"), name="webhooksubscription_once"),
            models.CheckConstraint(condition=Q(event__in=EventType.values), name="webhooksubscription_known"),
        )

    def __str__(self) -> str:
        return self.event


class EventCounter(models.Model):
    """A single row: the last position in the list of events. Its lock, held until the commit, makes positions appear in order."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    last = models.PositiveBigIntegerField(default=0)

    class Meta:
        default_permissions = ()
        constraints = (models.CheckConstraint(condition=Q(id=1), name="eventcounter_one_row"),)

    def __str__(self) -> str:
        return str(self.last)


class WebhookEvent(models.Model):
    """An event and its audience: one app, the apps of one developer, or all. Apps list it, and get it at their endpoints."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    type = models.CharField(max_length=32)
    data = models.JSONField()
    # The id of what the event is about.
    subject = models.CharField(max_length=64)
    app = models.ForeignKey(App, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    # Until then, further events of the same type about the same subject are merged into this one.
    merges_until = models.DateTimeField(null=True)
    # The place in the list of events; None until it is listed.
    position = models.PositiveBigIntegerField(null=True, unique=True)

    class Meta:
        ordering = ("-id",)
        default_permissions = ()
        indexes = (
            models.Index(fields=("app", "position"), name="webhookevent_app"),
            models.Index(fields=("owner", "position"), name="webhookevent_owner"),
            models.Index(fields=("position",), condition=Q(app=None, owner=None), name="webhookevent_public"),
            models.Index(fields=("created_at", "id"), condition=Q(position=None), name="webhookevent_unlisted"),
            models.Index(fields=("subject", "type", "merges_until"), condition=Q(merges_until__isnull=False), name="webhookevent_merging"),
        )

    def __str__(self) -> str:
        return f"{self.type} {self.webhook_id}"

    @property
    def webhook_id(self) -> str:
        """The id that receivers see, the same for every attempt."""
        return f"msg_{self.pk.hex}"


class DeliveryStatus(models.TextChoices):
    """The status of a delivery."""

    PENDING = "Pending"
    DELIVERED = "Delivered"
    FAILED = "Failed"
    CANCELLED = "Cancelled"


class WebhookDelivery(models.Model):
    """The delivery of an event to an endpoint."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    event = models.ForeignKey(WebhookEvent, on_delete=models.CASCADE, related_name="deliveries")
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    status = models.CharField(max_length=16, choices=DeliveryStatus.choices, default=DeliveryStatus.PENDING)
    # Attempts since it was created or last sent again; the log has all of them.
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        default_permissions = ()
        verbose_name_plural = "webhook deliveries"
        constraints = (
            models.UniqueConstraint(fields=("event", "endpoint"), name="webhookdelivery_once"),
            models.CheckConstraint(condition=Q(status__in=DeliveryStatus.values), name="webhookdelivery_status_known"),
        )
        indexes = (
            models.Index(fields=("endpoint", "-created_at", "-id"), name="webhookdelivery_newest"),
            models.Index(fields=("endpoint", "next_at"), condition=Q(status="Pending"), name="webhookdelivery_due"),
        )

    def __str__(self) -> str:
        return f"{self.event_id} to {self.endpoint_id}"


class WebhookAttempt(models.Model):
    """An attempt of a delivery, with the response."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="log")
    at = models.DateTimeField(default=timezone.now)
    milliseconds = models.PositiveIntegerField()
    # None without a response; then `error` says why.
    http_status = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=200, blank=True)
    response = models.TextField(blank=True)

    class Meta:
        ordering = ("-id",)
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.http_status or self.error}"

    @property
    def succeeded(self) -> bool:
        """Whether the receiver responded with a status that means success."""
        return self.http_status is not None and 200 <= self.http_status < 300

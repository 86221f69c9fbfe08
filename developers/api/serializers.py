"""Shapes of the developers' endpoints."""

import re
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import ADDRESS_CHARACTER, BodyInteger, BoundedList, Choice, Flag, Line, Prose
from marketplace.api.serializers import Body, Limit, PageNumber, PageSerializer
from marketplace.core import bounds as core_bounds
from marketplace.core.texts import WHITE_SPACE
from marketplace.review.appeals import appealable_of, wait_of_appeal
from marketplace.review.models import Appeal, AppealKind, AppealStatus
from marketplace.review.serializers import QueuePlace, queue_place

from .. import bounds
from ..event_types import EventType
from ..models import WebhookDelivery, WebhookEndpoint, WebhookEvent
from ..models.webhooks import DeliveryStatus, WebhookStatus

_WEB_ADDRESS = re.compile(rf"(?:[Hh][Tt][Tt][Pp][Ss]?://{ADDRESS_CHARACTER}*)?")


@extend_schema_field(
    {"type": "string", "pattern": rf"^[{WHITE_SPACE}]*{_WEB_ADDRESS.pattern}[{WHITE_SPACE}]*$", "maxLength": core_bounds.URL_CHARS}
)
class WebAddress(Line):
    """An http(s) address, or an empty string."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not _WEB_ADDRESS.fullmatch(text):
            raise serializers.ValidationError("Enter an address that starts with https:// or http://.", code="invalid")
        return text


class LeakedCredential(Body):
    """A secret, and where it was found."""

    value = Line(max_length=bounds.SECRET_CHARS)
    url = WebAddress(max_length=core_bounds.URL_CHARS, required=False, allow_blank=True, default="")


class LeakReportBody(Body):
    """Credentials that a secret scanner found."""

    credentials = BoundedList(
        child=LeakedCredential(), min_length=1, max_length=bounds.MAX_LEAKED_CREDENTIALS, help_text="The keys and tokens that were found."
    )


class LeakReportResponse(serializers.Serializer[Any]):
    """The number of credentials in the report, not of those that exist."""

    received = serializers.IntegerField(help_text="Number of credentials in the report.")


class EventQuery(serializers.Serializer[Any]):
    """Which events to list."""

    after = Line(
        required=False,
        max_length=200,
        help_text="The nextCursor of an earlier response; `latest` for what happens from now on; by default the oldest events.",
    )
    limit = Limit(default=bounds.EVENTS_DEFAULT, maximum=bounds.MAX_EVENTS)


class EventResponse(serializers.Serializer[WebhookEvent]):
    """An event, with the fields that webhooks send."""

    id = serializers.CharField(source="webhook_id", help_text="The `webhook-id` of its deliveries.")
    type = serializers.CharField(help_text="Type of the event; more may be added.")
    timestamp = serializers.DateTimeField(source="created_at", help_text="When it happened.")
    data = serializers.DictField(  # type: ignore[assignment]  # a field of this name
        help_text="Ids and a URL; the fields of each type are in the webhooks section of the OpenAPI document."
    )


class EventPageResponse(serializers.Serializer[Any]):
    """Events, oldest first."""

    items = EventResponse(source="events", many=True)
    nextCursor = serializers.CharField(source="next_cursor", help_text="Send it as after to get what follows, now or later.")
    hasMore = serializers.BooleanField(source="has_more", help_text="Whether more events can be read at once.")


_WEBHOOK_FIELDS = frozenset({"id", "status", "disabledReason", "createdAt", "lastDeliveredAt"})


class WebhookChanges(Body):
    """The fields of a webhook to change."""

    ignored_fields = _WEBHOOK_FIELDS

    url = Line(
        max_length=core_bounds.URL_CHARS, required=False, help_text="An https address on the public internet that takes POST requests."
    )
    events = BoundedList(
        child=Choice(choices=EventType.choices),
        min_length=1,
        max_length=len(EventType),
        required=False,
        help_text="The types of events to send.",
    )
    description = Line(max_length=core_bounds.NAME_CHARS, required=False, allow_blank=True, help_text="For your own reference.")
    enabled = Flag(required=False, help_text="Whether events are sent to it.")


class NewWebhook(WebhookChanges):
    """A webhook to create."""

    ignored_fields = frozenset()

    url = Line(max_length=core_bounds.URL_CHARS, help_text="An https address on the public internet that takes POST requests.")
    events = BoundedList(
        child=Choice(choices=EventType.choices), min_length=1, max_length=len(EventType), help_text="The types of events to send."
    )
    enabled = None  # type: ignore[assignment]  # how DRF leaves out an inherited field


class WebhookResponse(serializers.Serializer[WebhookEndpoint]):
    """A webhook of the app."""

    id = serializers.CharField()
    url = serializers.CharField()
    description = serializers.CharField(help_text="For your own reference.")
    events = serializers.ListField(child=serializers.CharField(), help_text="The types of events that are sent.")
    enabled = serializers.SerializerMethodField(help_text="Whether events are sent to it.")
    status = serializers.ChoiceField(WebhookStatus.choices, help_text="Failing: the last attempt failed.")
    disabledReason = serializers.CharField(source="disabled_reason", help_text="Why it is disabled; else empty.")
    createdAt = serializers.DateTimeField(source="created_at")
    lastDeliveredAt = serializers.DateTimeField(
        source="last_delivered_at", allow_null=True, help_text="Time of the last delivery that succeeded; null before that."
    )

    def get_enabled(self, endpoint: WebhookEndpoint) -> bool:
        return endpoint.disabled_at is None


class CreatedWebhook(WebhookResponse):
    """A new webhook with its secret."""

    secret = serializers.CharField(help_text="The signing secret. It is not shown again.")


class WebhookList(serializers.Serializer[Any]):
    """The webhooks of the app, oldest first."""

    items = WebhookResponse(many=True)


class WebhookDeleted(serializers.Serializer[Any]):
    """The webhook that was deleted."""

    id = serializers.CharField()


class RotateSecretBody(Body):
    """How long the old secret stays valid."""

    overlapHours = BodyInteger(
        source="overlap_hours",
        min_value=0,
        max_value=bounds.SECRET_OVERLAP_HOURS,
        default=24,
        help_text="For how many hours events are signed with the old secret too.",
    )


class RotatedSecret(serializers.Serializer[Any]):
    """A new secret."""

    id = serializers.CharField(help_text="Id of the webhook.")
    secret = serializers.CharField(help_text="The new signing secret. It is not shown again.")
    oldSecretExpiresAt = serializers.DateTimeField(
        source="old_secret_until", allow_null=True, help_text="Until when events are signed with the old secret too; null if they are not."
    )


class DeliveryQuery(serializers.Serializer[Any]):
    """Which deliveries to list."""

    status = Choice(choices=DeliveryStatus.choices, required=False, help_text="Only deliveries with this status.")
    limit = Limit(default=bounds.EVENTS_DEFAULT, maximum=bounds.MAX_EVENTS)
    cursor = Line(required=False, max_length=200, help_text="The nextCursor of the previous page.")


class DeliveryResponse(serializers.Serializer[WebhookDelivery]):
    """The delivery of an event to a webhook."""

    id = serializers.CharField()
    eventId = serializers.CharField(source="event.webhook_id", help_text="Id of the event, the `webhook-id` of each attempt.")
    type = serializers.CharField(source="event.type", help_text="Type of the event.")
    status = serializers.ChoiceField(DeliveryStatus.choices)
    attempts = serializers.IntegerField(help_text="Number of attempts since it was created or last sent again.")
    createdAt = serializers.DateTimeField(source="created_at")
    nextAttemptAt = serializers.SerializerMethodField(help_text="When it is tried next; null if it is not.")
    lastAttemptAt = serializers.DateTimeField(source="last_at", allow_null=True, help_text="Time of the last attempt; null before that.")
    lastHttpStatus = serializers.IntegerField(
        source="last_http_status", allow_null=True, help_text="HTTP status of the last response; null without one."
    )
    lastError = serializers.SerializerMethodField(help_text="Why the last attempt got no response; else empty.")

    def get_nextAttemptAt(self, delivery: WebhookDelivery) -> datetime | None:
        return delivery.next_at if delivery.status == DeliveryStatus.PENDING else None

    def get_lastError(self, delivery: Any) -> str:
        return delivery.last_error or ""


class DeliveryPage(serializers.Serializer[Any]):
    """Deliveries to a webhook, newest first."""

    items = DeliveryResponse(source="rows", many=True)
    nextCursor = serializers.CharField(
        source="next_cursor", allow_null=True, help_text="Send it as cursor to get the next page; null on the last page."
    )


class AppealQuery(serializers.Serializer[Any]):
    """Which appeals to list."""

    page = PageNumber()
    limit = Limit(default=25, maximum=100)


class AppealBody(Body):
    """What was decided on, and why the decision is wrong."""

    kind = Choice(choices=AppealKind.choices, help_text="What was decided on.")
    subjectId = Line(
        max_length=core_bounds.SLUG_CHARS, help_text="Id of the asset, of the vendor profile, of the app or of the application."
    )
    text = Prose(help_text="Why the decision is wrong.")


class AppealRecord(serializers.Serializer[Appeal]):
    """An appeal."""

    id = serializers.CharField(source="pk")
    kind = serializers.SerializerMethodField(help_text="What was decided on.")
    subjectId = serializers.CharField(source="decision.subject_id", help_text="Its id.")
    decision = serializers.CharField(source="decision.action", help_text="What was decided, such as `listing.takedown`.")
    decisionReason = serializers.CharField(source="decision.reason", help_text="The reason that the reviewer gave.")
    decisionAt = serializers.DateTimeField(source="decision.at", help_text="When it was decided.")
    text = serializers.CharField(help_text="Why the decision is wrong, as you wrote it.")
    status = serializers.ChoiceField(
        AppealStatus.choices, help_text="Pending: it waits for a reviewer; Dismissed: the decision stands; Accepted: it was overturned."
    )
    submittedAt = serializers.DateTimeField(source="submitted_at", help_text="When it was sent.")
    answer = serializers.CharField(help_text="The reviewer's reason; empty before the answer.")
    decidedAt = serializers.DateTimeField(source="decided_at", allow_null=True, help_text="When it was answered; null before that.")

    @extend_schema_field(serializers.ChoiceField(choices=AppealKind.choices))
    def get_kind(self, appeal: Appeal) -> str:
        appealable = appealable_of(appeal.decision)
        return appealable.kind if appealable else ""


class OneAppeal(AppealRecord):
    """An appeal with its place in the queue."""

    queue = serializers.SerializerMethodField(help_text="Its place in the queue; null if it was answered.")

    @extend_schema_field(QueuePlace(allow_null=True))
    def get_queue(self, appeal: Appeal) -> Any:
        return queue_place(wait_of_appeal(appeal))


class AppealPage(PageSerializer):
    """A page of appeals."""

    items = AppealRecord(many=True)

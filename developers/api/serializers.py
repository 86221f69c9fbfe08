"""Shapes of the developers' endpoints."""

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import ADDRESS_CHARACTER, BoundedList, Line
from marketplace.api.serializers import Body, Limit
from marketplace.core import bounds as core_bounds
from marketplace.core.texts import WHITE_SPACE

from .. import bounds
from ..models import WebhookMessage

_WEB_ADDRESS = re.compile(rf"(?:[Hh][Tt][Tt][Pp][Ss]?://{ADDRESS_CHARACTER}*)?")


@extend_schema_field(
    {"type": "string", "pattern": rf"^[{WHITE_SPACE}]*{_WEB_ADDRESS.pattern}[{WHITE_SPACE}]*$", "maxLength": core_bounds.URL_CHARS}
)
class WebAddress(Line):
    """An http(s) address, or an empty string."""

    def to_internal_value(self, data: Any) -> str:
        """Return the address."""
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
        child=LeakedCredential(), min_length=1, max_length=bounds.LEAKED_CREDENTIALS, help_text="The keys and tokens that were found."
    )


class LeakReportAnswer(serializers.Serializer[Any]):
    """The number of credentials in the report, not of those that exist."""

    received = serializers.IntegerField(help_text="Number of credentials in the report.")


class EventQuery(serializers.Serializer[Any]):
    """Which events to list."""

    after = Line(
        required=False,
        max_length=200,
        help_text="The nextCursor of an earlier response; `latest` for what happens from now on; by default the oldest events.",
    )
    limit = Limit(default=bounds.EVENTS_DEFAULT, maximum=bounds.EVENTS)


class EventAnswer(serializers.Serializer[WebhookMessage]):
    """An event, with the fields that webhooks send."""

    id = serializers.CharField(source="webhook_id", help_text="The `webhook-id` of its deliveries.")
    type = serializers.CharField(help_text="Type of the event; more may be added.")
    timestamp = serializers.DateTimeField(source="created_at", help_text="When it happened.")
    data = serializers.DictField(help_text="Ids and a URL; the fields of each type are in the webhooks section of the OpenAPI document.")


class EventPageAnswer(serializers.Serializer[Any]):
    """Events, oldest first."""

    items = EventAnswer(source="events", many=True)
    nextCursor = serializers.CharField(source="next_cursor", help_text="Send it as after to get what follows, now or later.")
    hasMore = serializers.BooleanField(source="has_more", help_text="Whether more events can be read at once.")

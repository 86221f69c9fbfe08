"""Shapes of the developers' endpoints."""

from typing import Any

from rest_framework import serializers

from marketplace.core import bounds
from marketplace.core.api.fields import BoundedList, Line
from marketplace.core.api.serializers import Body


class WebAddress(Line):
    """An http(s) address."""

    def to_internal_value(self, data: Any) -> str:
        """Return the address."""
        text = super().to_internal_value(data)
        if text and not text.lower().startswith(("https://", "http://")):
            raise serializers.ValidationError("Enter an address that starts with https:// or http://.", code="invalid")
        return text


class LeakedCredential(Body):
    """A secret, and where it was found."""

    value = Line(max_length=bounds.SECRET_CHARS)
    url = WebAddress(max_length=bounds.URL_CHARS, required=False, allow_blank=True, default="")


class LeakReportBody(Body):
    """What a secret scanner found."""

    credentials = BoundedList(child=LeakedCredential(), min_length=1, max_length=bounds.LEAKED_CREDENTIALS)


class LeakReportAnswer(serializers.Serializer[Any]):
    """How many were looked at; not how many are real."""

    received = serializers.IntegerField()

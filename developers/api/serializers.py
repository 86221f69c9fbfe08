"""Shapes of the developers' endpoints."""

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import ADDRESS_CHARACTER, BoundedList, Line
from marketplace.api.serializers import Body
from marketplace.core import bounds as core_bounds
from marketplace.core.texts import WHITE_SPACE

from .. import bounds

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

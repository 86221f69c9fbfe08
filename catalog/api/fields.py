"""Fields of discounts, which vendors give and buyers use."""

import re
from datetime import UTC, datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import COMMON_ERRORS, Text

from .. import bounds

DISCOUNT_CODE = rf"^[A-Za-z0-9-]{{{bounds.DISCOUNT_CODE_MINIMUM},{bounds.DISCOUNT_CODE_CHARS}}}\Z"
DISCOUNT_CODE_ERROR = (
    f"A discount code has {bounds.DISCOUNT_CODE_MINIMUM} to {bounds.DISCOUNT_CODE_CHARS} characters: letters, digits and hyphens."
)
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
MOMENT_CHARS = 40


class DiscountCode(serializers.RegexField):
    """The code of a discount; upper and lower case are the same."""

    default_error_messages = Text.default_error_messages | {"invalid": DISCOUNT_CODE_ERROR}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            DISCOUNT_CODE,
            trim_whitespace=False,
            min_length=bounds.DISCOUNT_CODE_MINIMUM,
            max_length=bounds.DISCOUNT_CODE_CHARS,
            **kwargs,
        )

    def to_internal_value(self, data: Any) -> str:
        """Return the code; refuse numbers and booleans."""
        if not isinstance(data, str):
            self.fail("invalid")
        if len(data) > bounds.DISCOUNT_CODE_CHARS:
            self.fail("max_length", max_length=bounds.DISCOUNT_CODE_CHARS)
        code: str = super().to_internal_value(data)
        return code


@extend_schema_field({"type": "string", "format": "date-time", "maxLength": MOMENT_CHARS})
class Moment(serializers.Field[datetime, str, str, datetime]):
    """A time with its offset from UTC (RFC 3339). A date that does not exist, such as 30 February, is read as the last moment of year 9999."""

    default_error_messages = COMMON_ERRORS | {
        "invalid": "A time with its offset from UTC is required, such as 2030-01-31T12:00:00Z.",
        "max_length": f"At most {MOMENT_CHARS} characters.",
    }

    def to_internal_value(self, data: Any) -> datetime:
        """Return the time in UTC."""
        if not isinstance(data, str):
            self.fail("invalid")
        if len(data) > MOMENT_CHARS:
            self.fail("max_length")
        if not _RFC3339.fullmatch(data):
            self.fail("invalid")
        try:
            return datetime.fromisoformat(data.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            return datetime.max.replace(tzinfo=UTC)

    def to_representation(self, value: datetime) -> str:
        """Return the time in UTC."""
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")

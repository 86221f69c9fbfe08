"""Serializer fields that accept exactly the JSON type of the specification, within `bounds`."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar

from django.core.validators import RegexValidator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.core import bounds, money
from marketplace.core.texts import CONTROL, NOT_IN_A_LINE, WHITE_SPACE

# Replace DRF's messages, which say "this field" and name Python types.
COMMON_ERRORS: dict[str, Any] = {"required": "A value is required.", "null": "null is not allowed here."}

# A character of an address, in a pattern that Python and ECMA-262 share.
ADDRESS_CHARACTER = rf"[^{WHITE_SPACE}\u0000-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]"

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
EMAIL_ADDRESS = rf"^{_ATOM}(\.{_ATOM})*@({_LABEL}\.)+[A-Za-z]{{2,63}}\Z"
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
MOMENT_CHARS = 40
MOMENT_SCHEMA = {"type": "string", "format": "date-time", "maxLength": MOMENT_CHARS}


class Text(serializers.CharField):
    """A string; numbers and booleans are refused."""

    default_error_messages = COMMON_ERRORS | {
        "invalid": "A string is required.",
        "blank": "It must not be empty.",
        "max_length": "At most {max_length} characters.",
        "min_length": "At least {min_length} characters.",
    }

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        # Before trimming, as a client checks the length.
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        text: str = super().to_internal_value(data)
        return text


class Choice(serializers.ChoiceField):
    """One of a few strings."""

    default_error_messages = COMMON_ERRORS

    def __init__(self, choices: Any, **kwargs: Any) -> None:
        super().__init__(choices, **kwargs)
        self.error_messages["invalid_choice"] = f"Use one of: {', '.join(map(str, self.choices))}."


class CleanText(Text):
    """Text without control characters."""

    default_error_messages = {"control_characters": "Control characters are not allowed."}
    refused = CONTROL

    @property
    def pattern(self) -> str:
        """What is accepted, for the OpenAPI document."""
        return f"^[^{self.refused}]*$"

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if re.search(f"[{self.refused}]", text):
            self.fail("control_characters")
        return text


class Line(CleanText):
    """One line of text, whose outer white space is trimmed."""

    default_error_messages = {"control_characters": "Use one line without tabs, control characters or text direction characters."}
    refused = NOT_IN_A_LINE

    @property
    def pattern(self) -> str:
        first = "" if self.allow_blank else rf"[^{WHITE_SPACE}{self.refused}]"
        return rf"^[{WHITE_SPACE}]*{first}[^{self.refused}]*[{WHITE_SPACE}]*$"


class EmailAddress(Text):
    """An ASCII email address; stricter than Django's validator: no quoted local part, no IP address, only letters in the top-level domain."""

    def __init__(self, **kwargs: Any) -> None:
        address = RegexValidator(EMAIL_ADDRESS, "An email address is required.", code="invalid")
        super().__init__(max_length=bounds.EMAIL_CHARS, trim_whitespace=False, validators=[address], **kwargs)


class LongText(CleanText):
    """Text of several lines, with a maximum length in UTF-8 bytes."""

    def __init__(self, *, max_bytes: int = bounds.LONG_TEXT_BYTES, **kwargs: Any) -> None:
        self.max_bytes = max_bytes
        # Also the maximum in characters, which OpenAPI can state: a text never has more characters than bytes.
        super().__init__(max_length=max_bytes, trim_whitespace=False, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, str) and len(data) <= self.max_bytes < len(data.encode()):
            raise serializers.ValidationError(f"At most {self.max_bytes} bytes of UTF-8.", code="max_length")
        return super().to_internal_value(data)


class Prose(CleanText):
    """Text of several lines that is not blank, with at most `bounds.REASON_CHARS` characters."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=bounds.REASON_CHARS, **kwargs)

    @property
    def pattern(self) -> str:
        return rf"^[^{self.refused}]*[^{WHITE_SPACE}{self.refused}][^{self.refused}]*$"


class Flag(serializers.BooleanField):
    """A JSON boolean; strings and numbers are refused."""

    default_error_messages = COMMON_ERRORS | {"invalid": "true or false is required."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class BoundedInteger(serializers.IntegerField):
    """A whole number within bounds."""

    default_error_messages = COMMON_ERRORS | {
        "invalid": "A whole number is required.",
        "min_value": "At least {min_value}.",
        "max_value": "At most {max_value}.",
        "max_string_length": "The number is too long.",
    }


class BodyInteger(BoundedInteger):
    """A whole JSON number, such as 1 or 1.0; strings are refused."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return int(super().to_internal_value(data))


class _Hundredths(serializers.Field[int, Any, float, Any]):
    """An integer of hundredths in Python, a number with at most two decimals in JSON."""

    default_error_messages = COMMON_ERRORS | {
        "invalid": "A number is required.",
        "min_value": "It cannot be negative.",
        "max_value": "At most {max_value}.",
        "decimals": "At most two decimals.",
    }
    maximum: ClassVar[Decimal]

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        value = Decimal(repr(data))
        if value < 0:
            self.fail("min_value")
        if value > self.maximum:
            self.fail("max_value", max_value=self.maximum)
        if value * 100 != (value * 100).to_integral_value():
            self.fail("decimals")
        return int(value * 100)

    def to_representation(self, value: int) -> float:
        return value / 100


# Stated in the description, because validators check `multipleOf: 0.01` with binary floats and refuse one price in seven, such as 0.07.
TWO_DECIMALS = {"description": "At most two decimals."}


@extend_schema_field({"type": "number", "minimum": 0, "maximum": bounds.MAX_PRICE_MINOR / 100} | TWO_DECIMALS)
class Price(_Hundredths):
    """A price: an integer of minor units in Python, a number with at most two decimals in JSON."""

    maximum = Decimal(bounds.MAX_PRICE_MINOR) / 100


@extend_schema_field({"type": "number", "minimum": 0, "maximum": 100} | TWO_DECIMALS)
class Percent(_Hundredths):
    """A percentage: an integer of basis points in Python, a number from 0 to 100 in JSON."""

    maximum = Decimal(100)


@extend_schema_field(OpenApiTypes.NUMBER)
class Amount(serializers.Field[int, Any, float, Any]):
    """A read-only amount of money: an integer of minor units in Python, a number in JSON. It may be negative."""

    def to_representation(self, value: int) -> float:
        return money.to_number(value)


@extend_schema_field(MOMENT_SCHEMA)
class Moment(serializers.Field[datetime, str, str, datetime]):
    """A time with its offset from UTC (RFC 3339).

    A date, time or offset that does not exist, such as 30 February, is read as the last possible time; one before year 1 as the first.
    """

    default_error_messages = COMMON_ERRORS | {
        "invalid": "A time with its offset from UTC is required, such as 2030-01-31T12:00:00Z.",
        "max_length": f"At most {MOMENT_CHARS} characters.",
    }

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str):
            self.fail("invalid")
        if len(data) > MOMENT_CHARS:
            self.fail("max_length")
        if not _RFC3339.fullmatch(data):
            self.fail("invalid")
        try:
            return datetime.fromisoformat(data.upper()).astimezone(UTC)
        except ValueError:
            # No such date, or no such year.
            too_early = data.startswith("0000")
        except OverflowError:
            too_early = data.startswith("0001")
        return datetime.min.replace(tzinfo=UTC) if too_early else datetime.max.replace(tzinfo=UTC)

    def to_representation(self, value: datetime) -> str:
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


class BoundedList(serializers.ListField):
    """A list whose length is validated before its items, and which reports only the first errors."""

    default_error_messages = COMMON_ERRORS | {
        "not_a_list": "A list is required.",
        "empty": "At least one item is required.",
        "min_length": "At least {min_length} items.",
        "max_length": "At most {max_length} items.",
    }
    max_length: int

    def __init__(self, *, max_length: int, **kwargs: Any) -> None:
        super().__init__(max_length=max_length, **kwargs)

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        items: list[Any] = super().to_internal_value(data)
        return items

    def run_child_validation(self, data: list[Any]) -> list[Any]:
        """Return the validated items; raise the errors of the first `bounds.MAX_ITEM_ERRORS` invalid ones, by index."""
        items: list[Any] = []
        errors: dict[int, Any] = {}
        for index, item in enumerate(data):
            try:
                items.append(self.child.run_validation(item))
            except serializers.ValidationError as error:
                errors[index] = error.detail
                if len(errors) == bounds.MAX_ITEM_ERRORS:
                    break
        if errors:
            raise serializers.ValidationError(errors)  # type: ignore[arg-type]  # keyed by index, as ListField does
        return items

"""Fields of discounts, which vendors give and buyers use."""

from typing import Any

from rest_framework import serializers

from marketplace.api.fields import Text

from .. import bounds

DISCOUNT_CODE = rf"^[A-Za-z0-9-]{{{bounds.MIN_DISCOUNT_CODE_CHARS},{bounds.DISCOUNT_CODE_CHARS}}}\Z"
DISCOUNT_CODE_ERROR = (
    f"A discount code has {bounds.MIN_DISCOUNT_CODE_CHARS} to {bounds.DISCOUNT_CODE_CHARS} characters: letters, digits and hyphens."
)


class DiscountCode(serializers.RegexField):
    """The code of a discount; upper and lower case are the same."""

    default_error_messages = Text.default_error_messages | {"invalid": DISCOUNT_CODE_ERROR}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            DISCOUNT_CODE,
            trim_whitespace=False,
            min_length=bounds.MIN_DISCOUNT_CODE_CHARS,
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

"""Fields of discounts, which vendors add and buyers use."""

from typing import Any

from django.core.validators import RegexValidator

from marketplace.api.fields import Text

from .. import bounds

DISCOUNT_CODE_PATTERN = rf"^[A-Za-z0-9-]{{{bounds.MIN_DISCOUNT_CODE_CHARS},{bounds.DISCOUNT_CODE_CHARS}}}\Z"
DISCOUNT_CODE_ERROR = (
    f"A discount code has {bounds.MIN_DISCOUNT_CODE_CHARS} to {bounds.DISCOUNT_CODE_CHARS} characters: letters, digits and hyphens."
)


class DiscountCode(Text):
    """The code of a discount; upper and lower case are the same."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            min_length=bounds.MIN_DISCOUNT_CODE_CHARS,
            max_length=bounds.DISCOUNT_CODE_CHARS,
            trim_whitespace=False,
            validators=[RegexValidator(DISCOUNT_CODE_PATTERN, DISCOUNT_CODE_ERROR, code="invalid")],
            **kwargs,
        )

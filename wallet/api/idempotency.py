"""The Idempotency-Key header."""

import re

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from marketplace.core.errors import InvalidInput

from .. import bounds

IDEMPOTENCY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
# Bare, or a quoted string as in the IETF draft.
_KEY = re.compile(rf'[!#-~][!-~]{{0,{bounds.IDEMPOTENCY_KEY_CHARS - 1}}}|"[!-~]{{1,{bounds.IDEMPOTENCY_KEY_CHARS}}}"')
IDEMPOTENCY_PARAMETER = OpenApiParameter(
    IDEMPOTENCY_HEADER,
    {"type": "string", "pattern": f"^(?:{_KEY.pattern})$", "minLength": 1, "maxLength": bounds.IDEMPOTENCY_KEY_CHARS + 2},
    OpenApiParameter.HEADER,
    description="Any text without spaces, up to 255 characters, in double quotes or without. Within 24 hours, a repeated request returns "
    "the first response.",
)


def idempotency_key(request: Request) -> str | None:
    """Return the key of the request without quotes.

    Raises:
        InvalidInput: it is empty, too long, or has spaces or other than printable ASCII.
    """
    given = request.headers.get(IDEMPOTENCY_HEADER)
    if given is None:
        return None
    if not _KEY.fullmatch(given):
        sentence = f"1 to {bounds.IDEMPOTENCY_KEY_CHARS} printable ASCII characters without spaces."
        raise InvalidInput(errors=[{"pointer": IDEMPOTENCY_HEADER, "code": "invalid", "detail": sentence}])
    return given[1:-1] if given.startswith('"') else given

"""Keyset cursors: opaque outside, a time and an id inside."""

import base64
import binascii
import uuid
from datetime import UTC, datetime

from rest_framework import serializers

from ..ids import parse_id


def encode_cursor(at: datetime, row_id: uuid.UUID) -> str:
    """Return the cursor that continues after this row."""
    return base64.urlsafe_b64encode(f"{at.isoformat()} {row_id}".encode()).decode().rstrip("=")


def decode_cursor(text: str) -> tuple[datetime, uuid.UUID]:
    """Return the row that a cursor continues after.

    Raises:
        serializers.ValidationError: it is no cursor of ours.
    """
    try:
        decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
        moment, row = decoded.split(" ")
        at, row_id = datetime.fromisoformat(moment), parse_id(row)
    except (ValueError, binascii.Error) as error:
        raise _bad_cursor() from error
    # Ours are in UTC. Another offset could lead beyond the years that the database converts.
    if row_id is None or at.tzinfo != UTC:
        raise _bad_cursor()
    return at, row_id


def _bad_cursor() -> serializers.ValidationError:
    return serializers.ValidationError({"?cursor": ["Send nextCursor of the last answer as it was."]}, code="invalid")

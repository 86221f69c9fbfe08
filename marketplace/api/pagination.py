"""Keyset pagination, newest first. A cursor is opaque to clients and contains the time and the id of the last row of a page."""

import base64
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from django.db.models import Q, QuerySet

from marketplace.core.errors import InvalidInput
from marketplace.core.ids import parse_id


@dataclass(frozen=True)
class Page:
    """A page of rows, newest first, and the cursor of the next page, None on the last one."""

    rows: list[Any]
    next_cursor: str | None


def newest_first(querysets: "Iterable[QuerySet[Any, Any]]", time_field: str, *, limit: int, cursor: str | None = None) -> Page:
    """Return a page of the merged rows of several querysets; of each, the rows of a page and one more are read.

    Args:
        querysets: Each sorted by `time_field` and then by id, newest first.
        time_field: The name of the field with the time of a row.
        limit: The most rows to return.
        cursor: `next_cursor` of the previous page; None for the first page.

    Raises:
        InvalidInput: the cursor is not valid.
    """
    if cursor is not None:
        at, row_id = _decode_cursor(cursor)
        # The first condition lets the database use an index.
        follows = Q(**{f"{time_field}__lte": at}) & (Q(**{f"{time_field}__lt": at}) | Q(**{time_field: at, "id__lt": row_id}))
        querysets = [rows.filter(follows) for rows in querysets]
    found = [row for rows in querysets for row in rows[: limit + 1]]
    found.sort(key=lambda row: (getattr(row, time_field), row.pk), reverse=True)
    rows = found[:limit]
    return Page(rows, pack_cursor([getattr(rows[-1], time_field).isoformat(), str(rows[-1].pk)]) if len(found) > limit else None)


def _decode_cursor(text: str) -> tuple[datetime, uuid.UUID]:
    """Return time and id of the row after which a cursor's page starts.

    Raises:
        InvalidInput: it is not a valid cursor.
    """
    match unpack_cursor(text):
        case [str(moment), str(row)]:
            row_id = parse_id(row)
        case _:
            raise _bad_cursor()
    try:
        at = datetime.fromisoformat(moment)
    except ValueError as error:
        raise _bad_cursor() from error
    # Our cursors are in UTC; with another offset, the year could be out of the database's range.
    if row_id is None or at.tzinfo != UTC:
        raise _bad_cursor()
    return at, row_id


def pack_cursor(values: Sequence[Any]) -> str:
    """Return JSON values as a cursor."""
    return base64.urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


def unpack_cursor(text: str) -> Any:
    """Return the values of a cursor, None if it is malformed."""
    try:
        return orjson.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except ValueError:
        return None


def _bad_cursor() -> InvalidInput:
    return InvalidInput(errors=[{"pointer": "?cursor", "code": "invalid", "detail": "Send the cursor of the previous response unchanged."}])

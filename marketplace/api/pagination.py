"""Keyset pagination, newest first. A cursor is opaque to clients; it holds the time and the id of the last row of a page."""

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
    """A page of rows.

    Args:
        rows: The rows, newest first.
        next_cursor: The cursor of the page that follows, None on the last page.
    """

    rows: list[Any]
    next_cursor: str | None


def newest_first(querysets: "Iterable[QuerySet[Any, Any]]", moment: str, *, limit: int, cursor: str | None = None) -> Page:
    """Return a page of the rows of several querysets, merged; from each of them at most a page is read.

    Args:
        querysets: Each sorted by `moment` and then by id, newest first.
        moment: The name of the field with the time of a row.
        limit: The most rows to return.
        cursor: `next_cursor` of the page before; the first page when there is none.

    Raises:
        InvalidInput: the cursor is not one of ours.
    """
    if cursor is not None:
        at, row_id = decode_cursor(cursor)
        # The first condition is where an index begins to read.
        follows = Q(**{f"{moment}__lte": at}) & (Q(**{f"{moment}__lt": at}) | Q(**{moment: at, "id__lt": row_id}))
        querysets = [rows.filter(follows) for rows in querysets]
    found = [row for rows in querysets for row in rows[: limit + 1]]
    found.sort(key=lambda row: (getattr(row, moment), row.pk), reverse=True)
    rows = found[:limit]
    return Page(rows, encode_cursor(getattr(rows[-1], moment), rows[-1].pk) if len(found) > limit else None)


def encode_cursor(at: datetime, row_id: uuid.UUID) -> str:
    """Return the cursor that continues after this row."""
    return pack_cursor([at.isoformat(), str(row_id)])


def decode_cursor(text: str) -> tuple[datetime, uuid.UUID]:
    """Return the row that a cursor continues after.

    Raises:
        InvalidInput: it is no cursor of ours.
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
    # Ours are in UTC. Another offset could lead beyond the years that the database converts.
    if row_id is None or at.tzinfo != UTC:
        raise _bad_cursor()
    return at, row_id


def pack_cursor(values: Sequence[Any]) -> str:
    """Return JSON values as a cursor."""
    return base64.urlsafe_b64encode(orjson.dumps(values)).decode().rstrip("=")


def unpack_cursor(text: str) -> Any:
    """Return the values of a cursor, None where it is none."""
    try:
        return orjson.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except ValueError:
        return None


def _bad_cursor() -> InvalidInput:
    return InvalidInput(errors=[{"pointer": "?cursor", "code": "invalid", "detail": "Send the cursor of the previous response unchanged."}])

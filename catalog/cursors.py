"""Cursors of browsing. A cursor holds the sort keys of the last listing of a page, and is bound to one sort order and set of filters.

They are not signed: a forged one only starts a page somewhere else in public data.
"""

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from marketplace.api.pagination import pack_cursor, unpack_cursor
from marketplace.core import bounds
from marketplace.core.ids import parse_id

from .selectors import Position, Sort, key_count

_INTEGERS = range(-(2**63), 2**63)


def encode(position: Position, *, page: int, sort: Sort, filters: Mapping[str, Any]) -> str:
    """Return the cursor for page number `page`, which starts after `position`."""
    *keys, row_id = position
    return pack_cursor([_binding(sort, filters), page, *keys, str(row_id)])


def decode(text: str, *, sort: Sort, filters: Mapping[str, Any]) -> tuple[int, Position]:
    """Return the page number of a cursor and the position after which the page starts.

    Raises:
        serializers.ValidationError: the cursor is malformed, or belongs to another sort order or other filters.
    """
    content = unpack_cursor(text)
    if not isinstance(content, list) or len(content) != 3 + key_count(sort) or content[0] != _binding(sort, filters):
        raise _refusal()
    _, page, *keys, row = content
    row_id = parse_id(row) if isinstance(row, str) else None
    if row_id is None or not all(type(number) is int and number in _INTEGERS for number in (page, *keys)) or not 1 <= page <= bounds.PAGE:
        raise _refusal()
    return page, (*keys, row_id)


def _binding(sort: Sort, filters: Mapping[str, Any]) -> str:
    # The currency only matters where prices do.
    ignored = {"currency"} if sort in {Sort.POPULAR, Sort.NEWEST} and filters.keys().isdisjoint({"minPrice", "maxPrice"}) else set()
    said = repr((sort.value, sorted((name, _plain(value)) for name, value in filters.items() if name not in ignored)))
    return hashlib.blake2b(said.encode(), digest_size=6).hexdigest()


def _plain(value: Any) -> str:
    return str(value.normalize() if isinstance(value, Decimal) else value)


def _refusal() -> serializers.ValidationError:
    sentence = "Send the cursor of the previous response unchanged, with the same sort and filters."
    return serializers.ValidationError({"cursor": [sentence]}, code="invalid_cursor")

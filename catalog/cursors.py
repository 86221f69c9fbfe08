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

from .selectors import Position, Sort, key_types, sorts_by_price

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
    content, types = unpack_cursor(text), key_types(sort)
    if not isinstance(content, list) or len(content) != 3 + len(types) or content[0] != _binding(sort, filters):
        raise _refusal()
    _, page, *keys, row = content
    row_id = parse_id(row) if isinstance(row, str) else None
    if row_id is None or not all(map(_is_valid, (page, *keys), (int, *types))) or not 1 <= page <= bounds.PAGE:
        raise _refusal()
    return page, (*keys, row_id)


def _is_valid(key: Any, key_type: type[int | str]) -> bool:
    if key_type is str:
        return isinstance(key, str) and "\0" not in key
    return type(key) is int and key in _INTEGERS


def _binding(sort: Sort, filters: Mapping[str, Any]) -> str:
    # The currency only matters where prices do.
    ignored = {"currency"} if not sorts_by_price(sort) and filters.keys().isdisjoint({"minPrice", "maxPrice"}) else set()
    said = repr((sort.value, sorted((name, _plain(value)) for name, value in filters.items() if name not in ignored)))
    return hashlib.blake2b(said.encode(), digest_size=6).hexdigest()


def _plain(value: Any) -> str:
    return str(value.normalize() if isinstance(value, Decimal) else value)


def _refusal() -> serializers.ValidationError:
    sentence = "Send the cursor of the previous response unchanged, with the same sort and filters."
    return serializers.ValidationError({"cursor": [sentence]}, code="invalid_cursor")

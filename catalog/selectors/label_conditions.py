"""Conditions on the labels of shelf items, as each engine looks them up fastest."""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection

from .. import labels
from .arms import Arm

# Labels of which one is asked for; no item has two of them.
Group = tuple[str, ...]


def has(group: Group, *, walk: bool, common: Collection[Group] = ()) -> Arm:
    """Return the condition that an item of `matched` has a label of a group.

    Args:
        group: The labels.
        walk: Look at the item, instead of collecting those that have it.
        common: As for `labelled`.
    """
    if connection.vendor == "postgresql":
        condition = labelled([group], common=common)
        table, one, own = "catalog_shelflabels", condition.sql, condition.params
    else:
        table, one, own = "catalog_shelflabel", f"label IN ({places(group)})", group
    # Put together from names of ours.
    if walk:
        return Arm(f"EXISTS (SELECT 1 FROM {table} own WHERE own.item_id = matched.listing_id AND {one})", own)  # noqa: S608
    return Arm(f"matched.listing_id IN (SELECT item_id FROM {table} WHERE {one})", own)  # noqa: S608


def labelled(groups: Sequence[Group], *, common: Collection[Group] = ()) -> Arm:
    """Return PostgreSQL's condition that a row of labels has one of each group.

    Args:
        groups: The labels.
        common: Those groups of which many items have one: they are looked for in the text. The others are written exactly as in the index.
    """
    conditions, params = [], list[Any]()
    for group in groups:
        if group in common:
            texts = [connection.ops.prep_for_like_query(f"{labels.SEPARATOR}{label}{labels.SEPARATOR}") for label in group]
            conditions.append(f"({' OR '.join(['labels LIKE %s'] * len(texts))})")
            params += [f"%{text}%" for text in texts]
        else:
            conditions.append(f"string_to_array(labels, '{labels.SEPARATOR}') && %s::text[]")
            params.append(list(group))
    return Arm(" AND ".join(conditions), params)


def places(values: Collection[object]) -> str:
    """Return a placeholder for each value."""
    return ", ".join(["%s"] * len(values))

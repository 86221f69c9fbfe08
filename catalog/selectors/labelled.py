"""Asks for labels of the shelf; the one place of browsing where engines differ.

How many items have a label is kept (ShelfCount), which decides how they are found: few are collected and then ordered; of many,
an order's first page is soon complete by walking along the order and looking at each item. The database's own guess at a rare
label, or at two that never meet, would make it walk along a million items.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet, Sum
from django.db.models.expressions import RawSQL
from django.db.models.fields import BooleanField, UUIDField

from marketplace.core.replica import read_connection

from ..labels import SEPARATOR
from ..models import ShelfItem, ShelfLabels
from .browse import shelf_counts

# So many are collected.
FEW = 10_000
# Where several labels are asked for, so many items are looked at for how many have them all; walked along where it is one in so many.
SAMPLE, ONE_IN = 5_000, 100


def with_labels(items: QuerySet[ShelfItem], groups: Sequence[tuple[str, ...]]) -> QuerySet[ShelfItem]:
    """Keep the items of the shelf that have a label of each group. No item has two of a group."""
    if not groups or items.query.is_empty():
        return items
    # And of no label: of the whole shelf.
    labels = ["", *(label for group in groups for label in group)]
    counts = shelf_counts(None, None, labels).order_by().values("label").annotate(n=Sum("listings"))
    listings = dict(counts.values_list("label", "n"))
    fewest = min(sum(listings.get(label, 0) for label in group) for group in groups)
    if not fewest:
        return items.none()
    sql, params = _condition(groups)
    if fewest > FEW and (len(groups) == 1 or _meet_often(sql, params, listings[""])):
        # The SQL is put together from constants; labels are parameters.
        condition = RawSQL(f"({sql})", params, output_field=BooleanField())  # noqa: S611
        return items.filter(Exists(ShelfLabels.objects.filter(condition, pk=OuterRef("pk"))))
    # The offset of nothing keeps PostgreSQL from weighing this against walking.
    found = f"SELECT item_id FROM catalog_shelflabels WHERE {sql} {'OFFSET 0' if connection.vendor == 'postgresql' else ''}"  # noqa: S608 - as above
    return items.filter(pk__in=RawSQL(found, params, output_field=UUIDField()))  # noqa: S611 - as above


def _meet_often(sql: str, params: list[Any], shelf: int) -> bool:
    """Tell whether many items of a shelf of so many have a label of each group, by a sample.

    SQLite, which cannot take one, has catalogs to look through.
    """
    if connection.vendor != "postgresql":
        return False
    percent = min(100.0, 100 * SAMPLE / max(shelf, 1))
    with read_connection().cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM catalog_shelflabels TABLESAMPLE SYSTEM (%s) WHERE {sql}", [percent, *params])  # noqa: S608 - as above
        found: int = cursor.fetchone()[0]
    return found * ONE_IN >= SAMPLE


def _condition(groups: Sequence[tuple[str, ...]]) -> tuple[str, list[Any]]:
    if connection.vendor == "postgresql":
        # The expression of the index, letter by letter.
        return " AND ".join([f"string_to_array(labels, '{SEPARATOR}') && %s::text[]"] * len(groups)), [list(group) for group in groups]
    ands = ["(" + " OR ".join(["instr(labels, %s) > 0"] * len(group)) + ")" for group in groups]
    return " AND ".join(ands), [f"{SEPARATOR}{label}{SEPARATOR}" for group in groups for label in group]

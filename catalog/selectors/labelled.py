"""Asks for labels of the shelf; the one place of browsing where engines differ.

How many items have a label is kept (ShelfCount), which decides how they are found: few are collected and then ordered; of many,
an order's first page is soon complete by walking along the order and looking at each item. The database's own guess at a rare
label would make it walk along a million items that do not have it.
"""

from django.db import connection
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.fields import BooleanField, UUIDField

from ..labels import SEPARATOR
from ..models import ShelfItem, ShelfLabels
from .browse import total_on_shelf

# So many are collected.
FEW = 10_000


def with_label(items: QuerySet[ShelfItem], *labels: str) -> QuerySet[ShelfItem]:
    """Keep the items of the shelf that have one of the labels."""
    listings = total_on_shelf(None, None, labels).listings
    if not listings:
        return items.none()
    sql, params = _condition(labels)
    if listings <= FEW:
        # The offset of nothing keeps the database from weighing this against walking. The SQL is put together from constants.
        found = f"SELECT item_id FROM catalog_shelflabels WHERE {sql} {'OFFSET 0' if connection.vendor == 'postgresql' else ''}"  # noqa: S608
        return items.filter(pk__in=RawSQL(found, params, output_field=UUIDField()))  # noqa: S611 - as above
    condition = RawSQL(f"({sql})", params, output_field=BooleanField())  # noqa: S611 - as above
    return items.filter(Exists(ShelfLabels.objects.filter(condition, pk=OuterRef("pk"))))


def _condition(labels: tuple[str, ...]) -> tuple[str, list[object]]:
    if connection.vendor == "postgresql":
        # The expression of the index, letter by letter.
        return f"string_to_array(labels, '{SEPARATOR}') && %s::text[]", [list(labels)]
    return " OR ".join(["instr(labels, %s) > 0"] * len(labels)), [f"{SEPARATOR}{label}{SEPARATOR}" for label in labels]

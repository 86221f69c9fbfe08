"""Asks for labels of the shelf; the one place of browsing where engines differ."""

from django.db import connection
from django.db.models import BooleanField, Exists, OuterRef
from django.db.models.expressions import RawSQL

from ..labels import SEPARATOR
from ..models import ShelfLabels


def has_label(*labels: str) -> Exists:
    """Return the condition that an item of the shelf has one of the labels."""
    if connection.vendor == "postgresql":
        # The expression of the index, letter by letter.
        params: list[object] = [list(labels)]
        sql = f"string_to_array(labels, '{SEPARATOR}') && %s::text[]"
    else:
        sql = " OR ".join(["instr(labels, %s) > 0"] * len(labels))
        params = [f"{SEPARATOR}{label}{SEPARATOR}" for label in labels]
    # The SQL is put together from the constants above; labels are parameters.
    condition = RawSQL(f"({sql})", params, output_field=BooleanField())  # noqa: S611
    return Exists(ShelfLabels.objects.filter(condition, pk=OuterRef("pk")))

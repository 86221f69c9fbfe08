"""The catalog's generation: cached public answers carry it in their key, so that none outlives a change.

It is a row of the database, not of the cache: every process sees it, and it changes in the transaction of what it counts.
"""

import uuid

from django.db.models import Sum

from marketplace.core.rows import insert

from ..models import CatalogGeneration

CHANGES = 0
PURCHASE_SHARDS = 32
_COUNT_UP = "ON CONFLICT (shard) DO UPDATE SET value = catalog_cataloggeneration.value + 1"


def current() -> int:
    """Return the generation of what has been committed, in one query."""
    total: int | None = CatalogGeneration.objects.aggregate(total=Sum("value"))["total"]
    return total or 0


def bump() -> None:
    """Count a change of the public catalog. Inside of a transaction, the next one to change it waits for its end."""
    _increment(CHANGES)


def bump_purchases(listing_id: uuid.UUID) -> None:
    """Count a purchase: it changes what is popular, and must not make other buyers wait."""
    _increment(1 + listing_id.int % PURCHASE_SHARDS)


def _increment(shard: int) -> None:
    insert(CatalogGeneration, {"shard": shard, "value": 1}, then=_COUNT_UP)

"""The catalog's generation: a number that changes in the transaction of every change of a public answer.

Cached answers carry the generation they were built at, and one is served only when that is still the present one. So all
that matters is that a reader learns the present generation: every number that `current` returns was that of the database at
some moment after the request began. The row itself is always right; reading it costs a query, which is spared where a
cheaper proof can be had that it has not changed:

- on SQLite the engine tells whether any connection of any process has committed since we last looked (`watch`);
- on PostgreSQL changes and readers meet at a board, the shared cache or a file in the memory of all processes (`fence`, `boards`);
- where there is no board, and inside of transactions, which see their own changes, the row is read.

Purchases do not count, but each run that counts them does (`popularity`).
"""

import logging
from collections.abc import Collection, Mapping
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.models import F

from marketplace.core.db.replica import read_alias
from marketplace.core.redis_cache import RedisCache

from ..models import CatalogGeneration
from . import fence, watch
from .boards import Board, board_of

ROW = 0
ANSWERS = "answers"

logger = logging.getLogger(__name__)


def bump(*, removal: bool = False) -> None:
    """Count a change of the public catalog. Inside of a transaction, the next one to change it waits for its end.

    Args:
        removal: It only takes something off sale. That is never refused; at worst it takes `boards.OUTLIVED_SECONDS`.

    Raises:
        DependencyUnavailable: the board does not answer; a change that it cannot be told of is not made.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            fence.raise_fence(board(), _count_and_read_naming(), removal=removal)
            return
        while not CatalogGeneration.objects.filter(shard=ROW).update(value=F("value") + 1):
            _make_row()


def current() -> int:
    """Return the generation of what has been committed."""
    return current_and_cached(())[0]


def current_and_cached(keys: Collection[str], found: Mapping[str, Any] | None = None) -> tuple[int, Mapping[str, Any]]:
    """Return the generation and what the cache of answers holds under these keys: in one round trip where it is shared.

    Args:
        keys: Of answers.
        found: What `read_along` of these keys holds, if somebody has read that since the request began.
    """
    if connection.in_atomic_block:
        return _stored(), cached(keys)
    if connection.vendor == "sqlite":
        return watch.current(_stored), cached(keys) if found is None else found
    shared = board()
    if shared is None:
        return _stored(), cached(keys)
    at, there = fence.current_and_cached(shared, keys, found, _stored)
    return at, there if shared.keys else cached(keys)


def read_along(keys: Collection[str]) -> list[str]:
    """Return what to read of the default cache for `current_and_cached`, when that is asked for something anyway."""
    if _alias() == ANSWERS:
        return []
    shared = board() if connection.vendor == "postgresql" else None
    return [*shared.keys, *keys] if shared is not None else [*keys]


def board() -> Board | None:
    """Return where processes that use this database meet."""
    return board_of(_alias())


def answers() -> BaseCache:
    """Return the cache for answers: one of their own where it is bounded by entries, so that they never displace counters."""
    return caches[_alias()]


def cached(keys: Collection[str]) -> dict[str, Any]:
    """Return what the cache of answers holds under these keys; nothing when it is down, which costs time, not the answer."""
    try:
        return answers().get_many(keys)
    except Exception as error:  # noqa: BLE001 - each cache backend has its own errors
        logger.warning("cached answers cannot be read: %r", error)
        return {}


def keep(key: str, value: object, seconds: int) -> None:
    """Store something in the cache of answers, if it is there; nobody waits for that."""
    try:
        cache = answers()
        store = cache.put if isinstance(cache, RedisCache) else cache.set
        store(key, value, seconds)
    except Exception as error:  # noqa: BLE001 - as above
        logger.warning("cached answers cannot be kept: %r", error)


def _alias() -> str:
    return ANSWERS if ANSWERS in caches.settings else "default"


def _count_and_read_naming() -> fence.Naming:
    with connection.cursor() as cursor:
        while True:
            cursor.execute(
                f"UPDATE catalog_cataloggeneration SET value = value + 1 WHERE shard = 0 RETURNING {fence.NAMING}"  # noqa: S608 - our own columns
            )
            row = cursor.fetchone()
            if row is not None:
                return fence.Naming(*row)
            _make_row()


def _make_row() -> None:
    CatalogGeneration.objects.bulk_create([CatalogGeneration(shard=ROW)], ignore_conflicts=True)


def replayed(generation: int) -> bool:
    """Tell whether the database that is read from at this point has what was committed up to this generation.

    Changes hold the generation's row until they end. So they are committed, and replayed, in the order of their numbers, and a
    replica that shows this one, or a later one, has all of them. It never goes back: what is read there afterwards is as new.
    A server that replays nothing proves nothing: after a failover, the address may lead to the primary of before, which has numbers
    for changes that nobody knows of.
    """
    return _read(read_alias(), "SELECT value FROM catalog_cataloggeneration WHERE shard = 0 AND pg_is_in_recovery()") >= generation


def _stored() -> int:
    """Return the row's value, in one query that costs no making: it may come with each request."""
    return _read(DEFAULT_DB_ALIAS, "SELECT value FROM catalog_cataloggeneration WHERE shard = 0")


def _read(alias: str, statement: str) -> int:
    with connections[alias].cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
    return 0 if row is None else int(row[0])

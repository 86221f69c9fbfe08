"""PostgreSQL and a cache that all processes share: the present generation, in that cache, without a stale moment.

The cache holds a fence, a random word, and a state, the generation together with the fence it was stored under. A state
counts only while its fence stands. Why a reader that finds such a state never gets an older generation than was committed
when its request began:

- A change updates the generation's row, which it holds locked until it ends, and then puts up a new fence. From there on
  every state that was stored before is void, and the commit comes later than that.
- A reader that finds no valid state takes note of the fence and then reads the row `FOR SHARE SKIP LOCKED`. It gets the row
  only when no change holds it. So a change that is under way is either seen by its lock, and nothing is stored; or it
  locks the row after the reader looked, and puts up its fence after that, which makes what the reader stores void, however
  late that arrives.

Nothing has to happen after the commit, so a process that dies between any two steps leaves no valid state that is old,
and the next reader stores a new one. A cache that forgets everything forgets the states as well. One that falls back to an older
copy of itself is put right when the state expires.

A cache that cannot be told ends the change with 503 before it commits: it may be this process alone that does not reach it, while
others are served from there. What goes off sale is not refused for that (`outlive_states`): the change keeps the row locked,
so that nothing new is stored, until every state that could still be valid has expired.
"""

import logging
import secrets
import time
from collections.abc import Callable, Collection
from typing import Any

from django.core.cache.backends.base import BaseCache
from django.db import connection

from marketplace.core.errors import DependencyUnavailable

FENCE, STATE = "catalog:fence", "catalog:state"
# Short: removals wait for it when the cache cannot be told.
STATE_SECONDS = 5
# A reader that took longer to read the row stores nothing; the cache's own time limit is a second for each step.
STORE_SECONDS = 1
OUTLIVED_SECONDS = STATE_SECONDS + STORE_SECONDS + 3

logger = logging.getLogger(__name__)


def raise_fence(cache: BaseCache) -> None:
    """Make every stored state void. The caller holds the generation's row.

    Raises:
        DependencyUnavailable: the cache does not answer.
    """
    try:
        cache.set(FENCE, _word(), None)
    except Exception as error:
        logger.warning("the cache cannot be told of a change: %r", error)
        raise DependencyUnavailable("The cache of public answers cannot be told of the change at the moment.") from error


def outlive_states() -> None:
    """Wait until no state that was stored before can be valid. The caller holds the generation's row, and keeps it."""
    time.sleep(OUTLIVED_SECONDS)


def current_and_cached(cache: BaseCache, keys: Collection[str], read: Callable[[], int]) -> tuple[int, dict[str, Any]]:
    """Return the generation, without a query where a valid state is stored, and what is cached under the keys."""
    try:
        found = cache.get_many([FENCE, STATE, *keys])
    except Exception as error:  # noqa: BLE001 - each cache backend has its own errors
        logger.warning("cached answers cannot be read: %r", error)
        return read(), {}
    fence, state = found.pop(FENCE, None), found.pop(STATE, None)
    if state is not None and state[0] == fence:
        return state[1], found
    return _store(cache, fence, read), found


def _store(cache: BaseCache, fence: str | None, read: Callable[[], int]) -> int:
    """Return the generation; store it as the state unless a change is under way."""
    try:
        if fence is None:
            cache.add(FENCE, _word(), None)
            fence = cache.get(FENCE)
        began = time.monotonic()
        generation = _read_unless_locked()
        if generation is None:
            return read()
        if fence is not None and time.monotonic() - began < STORE_SECONDS:
            cache.set(STATE, (fence, generation), STATE_SECONDS)
    except Exception as error:  # noqa: BLE001 - as above; a database that is down says so again
        logger.warning("the generation cannot be cached: %r", error)
        return read()
    return generation


def _read_unless_locked() -> int | None:
    with connection.cursor() as cursor:
        # One statement outside of a transaction: the lock is gone with it. A row that was changed meanwhile is read anew.
        cursor.execute("SELECT value FROM catalog_cataloggeneration WHERE shard = 0 FOR SHARE SKIP LOCKED")
        row = cursor.fetchone()
    return None if row is None else row[0]


def _word() -> str:
    return secrets.token_hex(8)

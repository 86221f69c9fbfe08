"""The optional read replica: which reads may go there, and when the primary answers instead.

A replica lags behind the primary, by milliseconds or by hours, and does not report it. So nothing is read from it by default. A caller
of `read_from` passes a check that the replica has replayed what the answer must contain. When the check fails, when the replica is
down, and inside a transaction, which must see its own changes, the primary answers.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from ..health import Figures, NotReady
from .timeouts import was_cancelled

REPLICA = "replica"
# After a failure the replica is not used for so long; then a single caller tries it again.
RETRY_SECONDS = 5.0
T = TypeVar("T")

_chosen: ContextVar[bool] = ContextVar("replica_chosen", default=False)
logger = logging.getLogger(__name__)


class Router:
    """Sends reads to the replica inside of `read_from`, and everything else to the primary."""

    def db_for_read(self, model: type[models.Model], **hints: Any) -> str:
        """Return where to read."""
        return read_alias()

    def db_for_write(self, model: type[models.Model], **hints: Any) -> str:
        """Return the primary, also for what was read from the replica."""
        return DEFAULT_DB_ALIAS

    def allow_relation(self, *_objects: models.Model, **hints: Any) -> bool:
        """Allow all: it is one database, seen twice."""
        return True

    def allow_migrate(self, db: str, *_names: Any, **hints: Any) -> bool:
        """Migrate the primary only."""
        return db == DEFAULT_DB_ALIAS


class _CircuitBreaker:
    """A circuit breaker: remembers that the replica failed, and lets one caller at a time try whether it is back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: float | None = None

    def allows(self) -> bool:
        """Tell whether the caller may use the replica; while it fails, this is true once in `RETRY_SECONDS`."""
        if self._until is None:
            return True
        with self._lock:
            if self._until is not None and time.monotonic() < self._until:
                return False
            self._until = time.monotonic() + RETRY_SECONDS
        return True

    def open(self) -> None:
        """Stop using the replica for a while."""
        with self._lock:
            self._until = time.monotonic() + RETRY_SECONDS

    def close(self) -> None:
        """Use the replica again: it answered."""
        self._until = None


breaker = _CircuitBreaker()


def read_alias() -> str:
    """Return the database that reads go to at this point."""
    return REPLICA if _chosen.get() and not connections[DEFAULT_DB_ALIAS].in_atomic_block else DEFAULT_DB_ALIAS


def read_connection() -> BaseDatabaseWrapper:
    """Return the connection for reads by plain SQL."""
    return connections[read_alias()]


def has_replica() -> bool:
    """Tell whether there is one."""
    return REPLICA in connections.settings


def read_from(build: Callable[[], T], *, proven: Callable[[], bool]) -> T:
    """Return what `build` returns, its reads sent to the replica where that is there and has all that is needed.

    Args:
        build: Reads; it may be called a second time, for the primary.
        proven: Tells, reading from the replica itself, whether it has replayed enough.
    """
    if not has_replica() or connections[DEFAULT_DB_ALIAS].in_atomic_block or not breaker.allows():
        return build()
    token = _chosen.set(True)
    try:
        if proven():
            value = build()
            breaker.close()
            return value
        breaker.close()
    except (OperationalError, InterfaceError) as error:
        if was_cancelled(error):
            # It would take the primary as long.
            raise
        breaker.open()
        logger.warning("the replica does not answer, the primary does: %s", error)
    finally:
        _chosen.reset(token)
    return build()


def probe() -> Figures:
    """Return how far the replica is behind: bytes that it has not replayed, and since when.

    Raises:
        NotReady: it is no replica of our primary.
    """
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn(), system_identifier FROM pg_control_system()")
        written, ours = cursor.fetchone()
    with connections[REPLICA].cursor() as cursor:
        cursor.execute(
            "SELECT system_identifier, pg_is_in_recovery(), greatest(pg_wal_lsn_diff(%s, pg_last_wal_replay_lsn()), 0),"
            " coalesce(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 0) FROM pg_control_system()",
            [written],
        )
        theirs, recovering, behind, seconds = cursor.fetchone()
    if theirs != ours or not recovering:
        raise NotReady("DATABASE_REPLICA_URL names no replica of DATABASE_URL")
    return {"lagBytes": int(behind), "lagSeconds": round(float(seconds), 1) if behind else 0.0}

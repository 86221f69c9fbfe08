"""Health checks of the service's dependencies: database, migrations, cache, and what apps register.

Each dependency has a probe. Probes run in their own threads with a timeout; a report is cached for a second, so that frequent
requests cost nothing. A report contains no addresses and no error messages.
"""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.core.cache import caches
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

CACHE_SECONDS = 1.0
PROBE_SECONDS = 2.0
OK, DOWN = "ok", "down"
# Raises if the dependency is down.
Probe = Callable[[], object]

logger = logging.getLogger(__name__)


class NotReady(Exception):
    """Raised by a probe that fails for a known reason; the message is logged, not shown."""


@dataclass(frozen=True)
class Report:
    """The results of the probes."""

    # Whether all components named in `settings.READY_REQUIRES` are up.
    ready: bool
    # By name, `ok` or `down`.
    components: dict[str, str]
    # By the monotonic clock.
    made_at: float

    @property
    def down(self) -> list[str]:
        """The names of the components that are down."""
        return sorted(name for name, status in self.components.items() if status != OK)


class Monitor:
    """Runs probes, one round at a time, and keeps the last report."""

    def __init__(self) -> None:
        self._probes: dict[str, Probe] = {}
        self._under_way: dict[str, Future[None]] = {}
        self._lock = threading.Lock()
        self._report: Report | None = None
        self._pool: ThreadPoolExecutor | None = None

    def register(self, name: str, probe: Probe) -> None:
        """Register a probe; called in an app's `ready()`."""
        self._probes[name] = probe

    def report(self) -> Report:
        """Return a report that is at most a second old, or the last one while another thread probes."""
        last = self._report
        if last is not None and time.monotonic() - last.made_at < CACHE_SECONDS:
            return last
        # One caller probes. Others wait for it only if it makes the first report of the process.
        if not self._lock.acquire(blocking=last is None):
            return last  # type: ignore[return-value]  # without a last report it blocks
        try:
            if self._report is None or time.monotonic() - self._report.made_at >= CACHE_SECONDS:
                self._report = self._probe()
            return self._report
        finally:
            self._lock.release()

    def _probe(self) -> Report:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=16, thread_name_prefix="health")
        for name, probe in self._probes.items():
            # A hanging probe is not started again before it ends, so that a dead dependency holds one thread only.
            # One that ended after the last round is started again, because its result is outdated.
            if name not in self._under_way or self._under_way[name].done():
                self._under_way[name] = self._pool.submit(_run, probe)
        wait(self._under_way.values(), timeout=PROBE_SECONDS)
        components = {name: self._outcome(name) for name in self._probes}
        ready = all(components.get(name, OK) == OK for name in settings.READY_REQUIRES)
        return Report(ready=ready, components=components, made_at=time.monotonic())

    def _outcome(self, name: str) -> str:
        if not self._under_way[name].done():
            logger.warning("%s does not answer within %s seconds", name, PROBE_SECONDS)
            return DOWN
        error = self._under_way.pop(name).exception()
        if error is not None:
            logger.warning("%s is down: %s", name, error)
            return DOWN
        return OK


monitor = Monitor()


def _run(probe: Probe) -> None:
    try:
        probe()
    finally:
        # Connections belong to threads, and nothing else uses this thread.
        connections.close_all()


def probe_database() -> None:
    """Run a trivial query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def probe_migrations() -> None:
    """Check that every migration of this code is applied; later ones mean that an upgrade is under way.

    Raises:
        NotReady: some are missing.
    """
    missing = _own_migrations() - MigrationRecorder(connection).applied_migrations().keys()
    if missing:
        raise NotReady(f"{len(missing)} migrations are not applied: run manage.py migrate")


def probe_cache() -> None:
    """Write to each cache and read it back.

    Raises:
        NotReady: the value read differs.
    """
    for name in settings.CACHES:
        caches[name].set("health", name, 10)
        if caches[name].get("health") != name:
            raise NotReady(f"the cache {name} does not keep its values")


@cache
def _own_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


monitor.register("database", probe_database)
monitor.register("migrations", probe_migrations)
monitor.register("cache", probe_cache)

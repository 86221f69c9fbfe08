"""Health checks of the service's dependencies: database, migrations, cache, and what apps register.

Each dependency has a probe. Probes run in threads of their own, with a timeout; a report is cached for a second, so that frequent
requests cost nothing. A report names what is down and nothing else: no address, no error text.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

KEPT_SECONDS = 1.0
PROBE_SECONDS = 2.0
OK, DOWN = "ok", "down"
# What a probe may return: figures, never the text of an error.
Figures = Mapping[str, Any]
Probe = Callable[[], Figures | None]

logger = logging.getLogger(__name__)


class NotReady(Exception):
    """Raised by a probe that fails for a known reason; the message is logged, not shown."""


@dataclass(frozen=True)
class Report:
    """What the probes found.

    Args:
        ready: Whether everything is up that `settings.READY_REQUIRES` names.
        components: By name, `ok` or `down`, with figures.
        at: When, by the monotonic clock.
    """

    ready: bool
    components: dict[str, dict[str, Any]]
    at: float

    @property
    def down(self) -> list[str]:
        """Names of what is down."""
        return sorted(name for name, component in self.components.items() if component["status"] != OK)


class Monitor:
    """Runs probes, one round at a time, and keeps the last report."""

    def __init__(self) -> None:
        self._probes: dict[str, Probe] = {}
        self._under_way: dict[str, Future[Figures | None]] = {}
        self._lock = threading.Lock()
        self._report: Report | None = None
        self._pool: ThreadPoolExecutor | None = None

    def register(self, name: str, probe: Probe) -> None:
        """Probe a dependency from now on; an app calls this in its `ready()`."""
        self._probes[name] = probe

    def forget(self) -> None:
        """Probe again at the next call."""
        self._report = None

    def report(self) -> Report:
        """Return a report that is at most a second old, or the last one while another thread probes."""
        last = self._report
        if last is not None and time.monotonic() - last.at < KEPT_SECONDS:
            return last
        # The first callers of a process wait for a report; nobody waits for a newer one.
        if not self._lock.acquire(blocking=last is None):
            return last  # type: ignore[return-value]  # it blocks where there is none
        try:
            if self._report is None or time.monotonic() - self._report.at >= KEPT_SECONDS:
                self._report = self._probe()
            return self._report
        finally:
            self._lock.release()

    def _probe(self) -> Report:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=16, thread_name_prefix="health")
        for name, probe in self._probes.items():
            # One that hangs is not asked again before it has ended: a dead dependency holds one thread, not all.
            # What one found that has ended since the last round is old news.
            if name not in self._under_way or self._under_way[name].done():
                self._under_way[name] = self._pool.submit(_run, probe)
        wait(self._under_way.values(), timeout=PROBE_SECONDS)
        components = {name: self._outcome(name) for name in self._probes}
        missing = [name for name in settings.READY_REQUIRES if components.get(name, {}).get("status", OK) != OK]
        return Report(not missing, components, time.monotonic())

    def _outcome(self, name: str) -> dict[str, Any]:
        if not self._under_way[name].done():
            logger.warning("%s does not answer within %s seconds", name, PROBE_SECONDS)
            return {"status": DOWN}
        future = self._under_way.pop(name)
        error = future.exception()
        if error is not None:
            logger.warning("%s is down: %s", name, error)
            return {"status": DOWN}
        return {"status": OK, **(future.result() or {})}


monitor = Monitor()


def _run(probe: Probe) -> Figures | None:
    try:
        return probe()
    finally:
        # Connections belong to threads, and these threads serve nobody else.
        connections.close_all()


def probe_database() -> None:
    """Ask the database for nothing."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT 1")


def probe_migrations() -> None:
    """Tell whether every migration of this code was applied; more than those is an upgrade under way.

    Raises:
        NotReady: some are missing.
    """
    missing = _own_migrations() - MigrationRecorder(connections[DEFAULT_DB_ALIAS]).applied_migrations().keys()
    if missing:
        raise NotReady(f"{len(missing)} migrations are not applied: run manage.py migrate")


def probe_cache() -> None:
    """Write to each cache and read it back.

    Raises:
        NotReady: it forgot at once.
    """
    for name in settings.CACHES:
        caches[name].set("health", name, 10)
        if caches[name].get("health") != name:
            raise NotReady(f"the cache {name} does not keep what it is told")


@cache
def _own_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


monitor.register("database", probe_database)
monitor.register("migrations", probe_migrations)
monitor.register("cache", probe_cache)

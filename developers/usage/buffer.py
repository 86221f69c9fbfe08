"""Counts calls in the memory of this process; a thread writes the counters to the database every few seconds."""

import atexit
import logging
import os
import threading
from collections import Counter
from multiprocessing.util import Finalize

from django.conf import settings
from django.db import connection

from .rows import CallKey, add_to_rows

# The thread is woken early at FLUSH_AT counters; beyond MAX_COUNTERS, if the database is down for long, new ones are dropped.
FLUSH_AT = 2_000
MAX_COUNTERS = 50_000

logger = logging.getLogger(__name__)


class UsageBuffer:
    """Counts calls of all threads. Counting takes a lock for one dictionary entry and never touches the database."""

    def __init__(self) -> None:
        self._counts: Counter[CallKey] = Counter()
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def count(self, call: CallKey) -> None:
        """Count one call."""
        with self._lock:
            if call in self._counts or len(self._counts) < MAX_COUNTERS:
                self._counts[call] += 1
            full = len(self._counts) >= FLUSH_AT
        if full:
            self._wake.set()
        if self._thread is None and settings.USAGE_FLUSH_SECONDS:
            self._start()

    def flush(self) -> int:
        """Add the counters to the rows; they are kept for the next time if the database fails. Return their number."""
        with self._writing:
            with self._lock:
                counts, self._counts = self._counts, Counter()
            if not counts:
                return 0
            try:
                add_to_rows(counts)
            except Exception as error:  # noqa: BLE001 - counting must not end because the database is away, whatever it says
                logger.warning("API usage stays in memory because it cannot be written: %s", type(error).__name__)
                self._restore(counts)
                return 0
            return len(counts)

    def _restore(self, counts: Counter[CallKey]) -> None:
        with self._lock:
            counts.update(self._counts)
            dropped = counts.most_common()[MAX_COUNTERS:]
            for call, _ in dropped:
                del counts[call]
            self._counts = counts
        if dropped:
            logger.error("API usage was dropped, because too much is waiting to be written: %d calls", sum(calls for _, calls in dropped))

    def _start(self) -> None:
        with self._lock:
            if self._thread is not None:
                return
            self._thread = threading.Thread(target=self._run, name="usage", daemon=True)
        # A process that a server started skips atexit, but runs the finalizers of multiprocessing.
        atexit.register(self.flush)
        Finalize(None, self.flush, exitpriority=10)
        self._thread.start()

    def _run(self) -> None:
        while settings.USAGE_FLUSH_SECONDS:
            self._wake.wait(settings.USAGE_FLUSH_SECONDS)
            self._wake.clear()
            self.flush()
            # Django closes only the connections of threads that serve requests.
            connection.close()


def _after_fork() -> None:
    """Start with an empty buffer in a child process: it has no thread, and its parent writes the counters."""
    usage_buffer.__init__()  # type: ignore[misc]  # other modules hold the object


usage_buffer = UsageBuffer()
os.register_at_fork(after_in_child=_after_fork)

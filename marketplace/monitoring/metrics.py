"""What is counted, in Prometheus' terms. Every label is bounded: route names, methods, statuses, names of our own.

With several processes each keeps its figures in files of the folder `METRICS_DIR`, and any of them adds them up when it is asked:
the library decides that by an environment variable while it is imported, which is why the settings set it.
What is a matter of the database, such as the length of a queue, is asked there at that moment (`Readings`).
"""

import logging
import os
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

_REGISTRY = CollectorRegistry()
# From a cached answer to an upload.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

REQUESTS = Counter("marketplace_requests", "Answered requests.", ("route", "method", "status"), registry=_REGISTRY)
SECONDS = Histogram(
    "marketplace_request_seconds", "Time until an answer's head was ready.", ("route",), buckets=_SECONDS, registry=_REGISTRY
)
QUERIES = Histogram("marketplace_query_seconds", "Time of database statements.", ("database",), buckets=_SECONDS, registry=_REGISTRY)
CATALOG = Counter(
    "marketplace_catalog_answers",
    "Anonymous answers of the public catalog: found in the cache (hit) or built (miss).",
    ["cache"],
    registry=_REGISTRY,
)
LIMITED = Counter("marketplace_rate_limited", "Calls that were refused with 429.", ("policy",), registry=_REGISTRY)
SPENDS = Counter("marketplace_spends", "Purchases asked for: sold, repeated, or the code of the refusal.", ("outcome",), registry=_REGISTRY)

Reading = Callable[[], Iterable[Metric]]
_readings: list[Reading] = []
logger = logging.getLogger(__name__)


def register(reading: Reading) -> None:
    """Ask for gauges at every collection: the function reads and yields them. An app calls this in its `ready()`."""
    if reading not in _readings:
        _readings.append(reading)


class Readings(Collector):
    """Gauges that are read when they are asked for; a reading that fails leaves the others alone."""

    def collect(self) -> Iterable[Metric]:
        """Yield what each registered function reads."""
        failed = 0
        for reading in _readings:
            try:
                yield from list(reading())
            except Exception:
                logger.exception("a gauge could not be read")
                failed += 1
        yield GaugeMetricFamily("marketplace_failed_readings", "Gauges that could not be read this time.", value=failed)


def exposition() -> bytes:
    """Return all figures in Prometheus' text format."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library's own gap
    else:
        registry.register(_REGISTRY)
    registry.register(Readings())
    return generate_latest(registry)

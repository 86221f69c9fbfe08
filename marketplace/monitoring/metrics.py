"""Prometheus metrics. Every label has a bounded set of values: route names, methods, statuses, our own names.

With several processes, each keeps its figures in files in `METRICS_DIR`, and a scrape adds them up:
the library reads an environment variable when it is imported, so `marketplace.wsgi` sets it.
Figures of the database, such as the length of a queue, are queried at each scrape (`GaugeCollector`).
"""

import logging
import os
from collections.abc import Callable, Iterable

from django.db import connection
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

_REGISTRY = CollectorRegistry()
# In seconds, from a cached response to an upload.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

REQUESTS = Counter("marketplace_requests", "Requests, by the status of the response.", ("route", "method", "status"), registry=_REGISTRY)
REQUEST_SECONDS = Histogram(
    "marketplace_request_seconds", "Time until the response headers were ready.", ("route",), buckets=_BUCKETS, registry=_REGISTRY
)
QUERY_SECONDS = Histogram("marketplace_query_seconds", "Time of database statements.", ("database",), buckets=_BUCKETS, registry=_REGISTRY)
CATALOG_RESPONSES = Counter(
    "marketplace_catalog_responses",
    "Anonymous responses of the public catalog: from the cache (hit) or built (miss).",
    ["cache"],
    registry=_REGISTRY,
)
RATE_LIMITED = Counter("marketplace_rate_limited", "Requests refused with 429.", ("policy",), registry=_REGISTRY)
SPENDS = Counter("marketplace_spends", "Purchase requests by outcome: sold, repeated, or the error code.", ("outcome",), registry=_REGISTRY)

GaugeReader = Callable[[], Iterable[Metric]]
_readers: list[GaugeReader] = []
logger = logging.getLogger(__name__)


def register(reader: GaugeReader) -> None:
    """Register a function that yields gauges at every scrape; called in an app's `ready()`."""
    _readers.append(reader)


class GaugeCollector(Collector):
    """Collects the registered gauges at each scrape; one that fails does not affect the others unless the database is down."""

    def collect(self) -> Iterable[Metric]:
        failed = 0
        for reader in _readers:
            try:
                yield from list(reader())
            except Exception:
                logger.exception("a gauge could not be read")
                failed += 1
                if connection.connection is None:
                    # The database is down: each further reader would wait for it, and the scrape would be given up.
                    break
        yield GaugeMetricFamily("marketplace_failed_readings", "Gauges that could not be read this time.", value=failed)


def exposition() -> bytes:
    """Return all metrics in Prometheus' text format."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library's own gap
    else:
        registry.register(_REGISTRY)
    registry.register(GaugeCollector())
    return generate_latest(registry)

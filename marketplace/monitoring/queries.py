"""Measures database statements and logs the slow ones."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from . import metrics

STATEMENT_CHARS = 2000

logger = logging.getLogger("marketplace.slow_queries")


class QueryTimer:
    """An execute wrapper that measures statements; they are logged without parameters."""

    def __init__(self, *, measure: bool, slow_ms: int) -> None:
        self._measure, self._slow_seconds = measure, slow_ms / 1000

    def __call__(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:  # noqa: FBT001 - Django's signature
        """Run and time the statement."""
        began = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            seconds = time.perf_counter() - began
            alias = context["connection"].alias
            if self._measure:
                metrics.QUERIES.labels(alias).observe(seconds)
            if self._slow_seconds and seconds >= self._slow_seconds:
                statement = " ".join(str(sql).split())[:STATEMENT_CHARS]
                facts = {"database": alias, "duration_ms": round(seconds * 1000, 2), "statement": statement}
                logger.warning("slow statement, %.0f ms: %s", seconds * 1000, statement, extra=facts)


def watch_queries() -> None:
    """Time the statements of every new connection if the settings enable it."""
    if settings.METRICS_TOKEN or settings.SLOW_QUERY_MS:
        watch = QueryTimer(measure=bool(settings.METRICS_TOKEN), slow_ms=settings.SLOW_QUERY_MS)

        def attach(connection: BaseDatabaseWrapper, **_kwargs: Any) -> None:
            if watch not in connection.execute_wrappers:
                connection.execute_wrappers.append(watch)

        connection_created.connect(attach, dispatch_uid="core.watch_queries", weak=False)

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


def time_query(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:  # noqa: FBT001 - Django's signature
    """Run a statement and measure it; a slow one is logged without its parameters. An execute wrapper."""
    began = time.perf_counter()
    try:
        return execute(sql, params, many, context)
    finally:
        seconds = time.perf_counter() - began
        alias = context["connection"].alias
        if settings.METRICS_TOKEN:
            metrics.QUERY_SECONDS.labels(alias).observe(seconds)
        if settings.SLOW_QUERY_MS and seconds * 1000 >= settings.SLOW_QUERY_MS:
            statement = " ".join(str(sql).split())[:STATEMENT_CHARS]
            facts = {"database": alias, "duration_ms": round(seconds * 1000, 2), "statement": statement}
            logger.warning("slow statement, %.0f ms: %s", seconds * 1000, statement, extra=facts)


def watch_queries() -> None:
    """Time the statements of every new connection if the settings enable it."""
    if settings.METRICS_TOKEN or settings.SLOW_QUERY_MS:
        connection_created.connect(_attach, dispatch_uid="monitoring.watch_queries")


def _attach(connection: BaseDatabaseWrapper, **_kwargs: Any) -> None:
    if time_query not in connection.execute_wrappers:
        connection.execute_wrappers.append(time_query)

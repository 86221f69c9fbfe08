"""Middleware of monitoring: answers `/healthz`, `/readyz` and `/metrics`, counts each response for Prometheus and writes the access log."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST

from marketplace.monitoring import metrics
from marketplace.monitoring.health import OK, monitor
from marketplace.monitoring.metrics import exposition

RETRY_SECONDS = "5"
_UNCACHED = {"Cache-Control": "no-store"}


class HealthMiddleware:
    """Answers them before anything else of a request is looked at: host, scheme, session, limits."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._endpoints = {"/healthz": _alive, "/readyz": _ready, "/metrics": _metrics}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        endpoint = self._endpoints.get(request.path_info)
        if endpoint is None or request.method not in {"GET", "HEAD"}:
            return self.get_response(request)
        return endpoint(request) or self.get_response(request)


def _alive(_request: HttpRequest) -> HttpResponse:
    """Tell that the process answers, whatever it depends on."""
    return _json({"status": OK}, 200)


def _ready(_request: HttpRequest) -> HttpResponse:
    """Name what is down; 503 where the service needs it (`settings.READY_REQUIRES`)."""
    report = monitor.report()
    status = "unavailable" if not report.ready else "degraded" if report.down else OK
    return _json({"status": status, "down": report.down, "components": report.components}, 200 if report.ready else 503)


def _metrics(request: HttpRequest) -> HttpResponse | None:
    """Show the figures to whoever knows the token; for everyone else there is nothing here."""
    given = request.headers.get("Authorization", "")
    if not settings.METRICS_TOKEN or not constant_time_compare(given, f"Bearer {settings.METRICS_TOKEN}"):
        return None
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST, headers=_UNCACHED)


def _json(body: Mapping[str, Any], status: int) -> HttpResponse:
    headers = _UNCACHED if status == 200 else _UNCACHED | {"Retry-After": RETRY_SECONDS}
    response = HttpResponse(orjson.dumps(body), status=status, content_type="application/json", headers=headers)
    # Django logs a 503 as an error, which this answer is not: it is the news that there was one.
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
    return response


# Who answers past the routes leaves a name for what it did under this name in `request.META`.
ROUTE_KEY = "marketplace.route"
# A caller may make up methods.
METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})

access_log = logging.getLogger("marketplace.access")


class MonitoringMiddleware:
    """Counts and logs what was answered. The time is that until the answer's head was ready."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not (settings.METRICS_TOKEN or settings.ACCESS_LOG):
            raise MiddlewareNotUsed
        self.get_response = get_response
        self._measure, self._log = bool(settings.METRICS_TOKEN), settings.ACCESS_LOG
        # Children by their labels, of which there are few: the library's own look-up takes a lock.
        self._counters: dict[tuple[str, str, int], Any] = {}
        self._timers: dict[str, Any] = {}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, then look at the answer."""
        began = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - began
        route, method = route_of(request), request.method if request.method in METHODS else "OTHER"
        if self._measure:
            self._count((route, str(method), response.status_code), seconds)
        if self._log and access_log.isEnabledFor(logging.INFO):
            access_log.info("%s %s %d", method, route, response.status_code, extra=_facts(request, response, route, seconds))
        return response

    def _count(self, labels: tuple[str, str, int], seconds: float) -> None:
        counter = self._counters.get(labels)
        if counter is None:
            counter = self._counters[labels] = metrics.REQUESTS.labels(*labels)
        counter.inc()
        timer = self._timers.get(labels[0])
        if timer is None:
            timer = self._timers[labels[0]] = metrics.SECONDS.labels(labels[0])
        timer.observe(seconds)


def route_of(request: HttpRequest) -> str:
    """Return the name of what was called: never the path, which holds ids and signatures."""
    match = request.resolver_match
    if match is not None:
        return match.view_name or "unnamed"
    route: str = request.META.get(ROUTE_KEY, "unrouted")
    return route


def _facts(request: HttpRequest, response: HttpResponseBase, route: str, seconds: float) -> dict[str, Any]:
    """Return who called what and how it ended. Ids only."""
    facts: dict[str, Any] = {
        "route": route,
        "method": request.method,
        "status": response.status_code,
        "duration_ms": round(seconds * 1000, 2),
    }
    # DRF leaves there what its authentication returned; the session's user only where somebody has asked for it.
    principal = getattr(request, "auth", None)
    if principal is not None:
        facts |= {
            "user": str(principal.user.pk),
            "app": None if principal.app_id is None else str(principal.app_id),
            "credential": str(principal.credential.pk),
        }
    elif (user := getattr(request, "_cached_user", None)) is not None and user.pk is not None:
        facts["user"] = str(user.pk)
    return facts

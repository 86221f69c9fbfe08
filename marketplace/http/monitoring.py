"""Monitoring middleware: `/healthz`, `/readyz` and `/metrics`, the id of each request, metrics of responses, the access log."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.crypto import constant_time_compare
from django.utils.deprecation import MiddlewareMixin
from prometheus_client import CONTENT_TYPE_LATEST

from marketplace.core.ids import NO_REQUEST, REQUEST_ID, new_id
from marketplace.monitoring import metrics
from marketplace.monitoring.health import OK, monitor

RETRY_SECONDS = "5"
# An id of the client's, which is part of logs, audit entries and problem documents.
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_UNCACHED = {"Cache-Control": "no-store"}


class HealthMiddleware(MiddlewareMixin):
    """Serves the monitoring endpoints without checks of host, scheme, session or limits."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        endpoints = {"/healthz": _alive, "/readyz": _ready, "/metrics": _metrics}
        endpoint = endpoints.get(request.path_info) if request.method in {"GET", "HEAD"} else None
        return endpoint(request) if endpoint else None


def _alive(_request: HttpRequest) -> HttpResponse:
    """Report that the process is alive, without checks of dependencies."""
    return _json({"status": OK}, 200)


def _ready(_request: HttpRequest) -> HttpResponse:
    """Report components that are down, with 503 if the service needs one of them (`settings.READY_REQUIRES`)."""
    report = monitor.report()
    status = "unavailable" if not report.ready else "degraded" if report.down else OK
    components = {name: {"status": up_or_down} for name, up_or_down in report.components.items()}
    return _json({"status": status, "down": report.down, "components": components}, 200 if report.ready else 503)


def _metrics(request: HttpRequest) -> HttpResponse | None:
    """Return the metrics to requests with the token; None, which leads to a 404, to others."""
    given = request.headers.get("Authorization", "")
    if not settings.METRICS_TOKEN or not constant_time_compare(given, f"Bearer {settings.METRICS_TOKEN}"):
        return None
    return HttpResponse(metrics.exposition(), content_type=CONTENT_TYPE_LATEST, headers=_UNCACHED)


def _json(body: Mapping[str, Any], status: int) -> HttpResponse:
    headers = _UNCACHED if status == 200 else _UNCACHED | {"Retry-After": RETRY_SECONDS}
    response = HttpResponse(orjson.dumps(body), status=status, content_type="application/json", headers=headers)
    # Django would log each 503 of a health check as an error.
    response._has_been_logged = True  # type: ignore[attr-defined]  # Django's own mark
    return response


class RequestIdMiddleware:
    """Sets and echoes `X-Request-Id`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else str(new_id())
        REQUEST_ID.set(request_id)
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response


@receiver(request_finished, dispatch_uid="http.request_id")
def _reset_request_id(**_kwargs: Any) -> None:
    """Reset the id only now: Django logs errors after the middleware has returned, and streams files after that."""
    REQUEST_ID.set(NO_REQUEST)


# Middleware that responds before URL routing sets the route's name under this key in `request.META`.
ROUTE_KEY = "marketplace.route"
# Others are counted as OTHER, since clients can send any method.
METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})

access_log = logging.getLogger("marketplace.access")


class MonitoringMiddleware:
    """Counts and logs responses. The duration ends when the headers are ready."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not (settings.METRICS_TOKEN or settings.ACCESS_LOG):
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - began
        route, method = route_of(request), request.method if request.method in METHODS else "OTHER"
        if settings.METRICS_TOKEN:
            metrics.REQUESTS.labels(route, method, response.status_code).inc()
            metrics.REQUEST_SECONDS.labels(route).observe(seconds)
        if settings.ACCESS_LOG:
            access_log.info("%s %s %d", method, route, response.status_code, extra=_facts(request, response, route, seconds))
        return response


def route_of(request: HttpRequest) -> str:
    """Return the name of the route; never the path, which contains ids and signatures."""
    match = request.resolver_match
    if match is not None:
        return match.view_name or "unnamed"
    route: str = request.META.get(ROUTE_KEY, "unrouted")
    return route


def _facts(request: HttpRequest, response: HttpResponseBase, route: str, seconds: float) -> dict[str, Any]:
    """Return the fields of an access log entry; of users and credentials only the ids."""
    facts: dict[str, Any] = {
        "route": route,
        "method": request.method,
        "status": response.status_code,
        "duration_ms": round(seconds * 1000, 2),
    }
    # `auth` is set by DRF's authentication; the session's user is cached only if the view has used it.
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

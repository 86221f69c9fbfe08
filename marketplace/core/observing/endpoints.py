"""`/healthz`, `/readyz` and `/metrics`, for load balancers and monitoring: from inside the network, under any host name and without TLS."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST

from ..health import OK, monitor
from .metrics import exposition

RETRY_SECONDS = "5"
_UNCACHED = {"Cache-Control": "no-store"}


class EndpointsMiddleware:
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

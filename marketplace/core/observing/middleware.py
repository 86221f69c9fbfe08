"""Middleware that counts each response for Prometheus and writes the access log. Not installed where the settings ask for neither."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase

from . import metrics

# Who answers past the routes leaves a name for what it did under this name in `request.META`.
ROUTE_KEY = "marketplace.route"
# A caller may make up methods.
METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})

access = logging.getLogger("marketplace.access")


class ObservingMiddleware:
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
        if self._log and access.isEnabledFor(logging.INFO):
            access.info("%s %s %d", method, route, response.status_code, extra=_facts(request, response, route, seconds))
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

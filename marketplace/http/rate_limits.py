"""Rate limits: fixed windows of a minute, counted in the shared cache, and their response headers.

Across the boundary of two windows, a burst of twice the limit is possible; within a window the count is exact.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django_ratelimit.core import get_usage
from rest_framework.request import Request

from marketplace.core.errors import RateLimited
from marketplace.monitoring.metrics import RATE_LIMITED

from .client_address import client_network

# Key of the `RateLimit` fields in `request.META`.
META_KEY = "marketplace.rate_limit_fields"


class RateLimitFieldsMiddleware(MiddlewareMixin):
    """Copies the `RateLimit` fields from the request to the response."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        for name, value in request.META.get(META_KEY, {}).items():
            response[name] = value
        return response


WINDOW_SECONDS = 60

logger = logging.getLogger(__name__)


class CounterStoreDown(Exception):
    """The cache that counts calls is not available."""


@dataclass(frozen=True)
class RateLimit:
    """A limit of calls per minute for a bucket."""

    # Its name, sent to the client.
    policy: str
    # The subject whose calls are counted, such as an address.
    bucket: str
    calls: int


@dataclass(frozen=True)
class LimitUsage:
    """The usage of a limit."""

    limit: RateLimit
    used: int
    seconds_left: int


def count_call(request: HttpRequest | Request, limits: Sequence[RateLimit]) -> None:
    """Count a call in each bucket and set the `RateLimit` fields of the response.

    Raises:
        CounterStoreDown: the cache does not answer.
        RateLimited: a bucket is full.
    """
    usages = [_usage(request, limit) for limit in limits]
    request.META[META_KEY] = _fields(usages)
    if exceeded := [usage for usage in usages if usage.used > usage.limit.calls]:
        _refuse(exceeded)


def refuse_when_full(request: HttpRequest | Request, limits: Sequence[RateLimit]) -> None:
    """Refuse a call whose bucket is full, without counting it; for calls that are counted by their outcome.

    Raises:
        CounterStoreDown: the cache does not answer.
        RateLimited: a bucket is full.
    """
    usages = [_usage(request, limit, increment=False) for limit in limits]
    if full := [usage for usage in usages if usage.used >= usage.limit.calls]:
        request.META[META_KEY] = _fields(usages)
        _refuse(full)


def usage_of(limits: Sequence[RateLimit]) -> list[LimitUsage]:
    """Return how far each limit is used, without counting a call; empty while the counters are not available."""
    try:
        return [_usage(HttpRequest(), limit, increment=False) for limit in limits]
    except CounterStoreDown:
        return []


def count_by_address(request: HttpRequest | Request, name: str) -> None:
    """Count an anonymous call by the client's IP address; `name` is one in `settings.RATE_LIMITS`, such as `leak_reports`.

    Without the cache, calls are allowed: these limits save resources, and keys and tokens are too long to guess.

    Raises:
        RateLimited: the address has made too many calls.
    """
    with suppress(CounterStoreDown):
        count_call(request, [RateLimit(name.replace("_", "-"), client_network(request), settings.RATE_LIMITS[name])])


def _usage(request: HttpRequest | Request, limit: RateLimit, *, increment: bool = True) -> LimitUsage:
    try:
        usage = get_usage(
            request,
            group=f"api.{limit.policy}",
            key=lambda _group, _request: limit.bucket,
            rate=(limit.calls, WINDOW_SECONDS),
            increment=increment,
        )
    except Exception as error:
        logger.warning("calls are not counted, the cache does not answer: %r", error)
        raise CounterStoreDown from error
    # django-ratelimit returns a limit of zero if the cache did not count.
    if not usage["limit"]:
        logger.warning("rate limits are not applied: the cache does not count")
        raise CounterStoreDown
    # The library's time left is one second short.
    return LimitUsage(limit, usage["count"], max(0, usage["time_left"]) + 1)


def _refuse(full: Sequence[LimitUsage]) -> None:
    for usage in full:
        RATE_LIMITED.labels(usage.limit.policy).inc()
    raise RateLimited(headers={"Retry-After": str(max(usage.seconds_left for usage in full))})


def _fields(usages: Sequence[LimitUsage]) -> dict[str, str]:
    """Return the header fields of draft-ietf-httpapi-ratelimit-headers."""
    return {
        "RateLimit-Policy": ", ".join(f'"{usage.limit.policy}";q={usage.limit.calls};w={WINDOW_SECONDS}' for usage in usages),
        "RateLimit": ", ".join(
            f'"{usage.limit.policy}";r={max(0, usage.limit.calls - usage.used)};t={usage.seconds_left}' for usage in usages
        ),
    }

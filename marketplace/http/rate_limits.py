"""Rate limits: fixed windows of a minute, counted in the shared cache, and the response headers that tell of them.

The edge between two windows lets a burst of twice the limit through; within a window the count is exact.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django_ratelimit.core import get_usage
from rest_framework.request import Request

from marketplace.core.errors import RateLimited
from marketplace.monitoring.metrics import LIMITED

from .client_address import client_network

# Whoever counts a call leaves its fields under this name in `request.META`.
META_KEY = "marketplace.rate_limit_fields"


class RateLimitFieldsMiddleware:
    """Copies the fields that were left on the request to the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        for name, value in request.META.get(META_KEY, {}).items():
            response[name] = value
        return response


WINDOW_SECONDS = 60

logger = logging.getLogger(__name__)


class CounterStoreDown(Exception):
    """The cache that counts calls does not answer."""


@dataclass(frozen=True)
class Limit:
    """How many calls one bucket takes in a minute.

    Args:
        policy: Name of the policy, shown to the client.
        bucket: Whose calls are counted.
        calls: How many.
    """

    policy: str
    bucket: str
    calls: int


@dataclass(frozen=True)
class Usage:
    """A limit after this call."""

    limit: Limit
    used: int
    seconds_left: int

    @property
    def exceeded(self) -> bool:
        """Tell whether this call was one too many."""
        return self.used > self.limit.calls


def count_call(request: HttpRequest | Request, limits: Sequence[Limit]) -> None:
    """Count one call in each bucket and leave the `RateLimit` fields for the answer.

    Raises:
        CounterStoreDown: the cache does not answer.
        RateLimited: a bucket is full.
    """
    _settle(request, [_usage(request, limit) for limit in limits])


def refuse_when_full(request: HttpRequest | Request, limits: Sequence[Limit]) -> None:
    """Refuse a call that would be one too many, without counting it: what is counted is known only after the answer.

    Raises:
        CounterStoreDown: the cache does not answer.
        RateLimited: a bucket is full.
    """
    usages = [_usage(request, limit, increment=False) for limit in limits]
    full = [usage for usage in usages if usage.used >= usage.limit.calls]
    if full:
        request.META[META_KEY] = _fields(usages)
        _refuse(full)


def count_by_address(request: HttpRequest | Request, bucket: str) -> None:
    """Count what anyone may do without a credential, by the caller's address.

    With nobody to count it is let through: these limits spare work, and the secrets behind them are too long to guess.

    Args:
        request: What the caller sent.
        bucket: A name in `settings.RATE_LIMITS`, such as `leak_reports`.

    Raises:
        RateLimited: too many came from there.
    """
    try:
        count_call(request, [_limit_by_address(request, bucket)])
    except CounterStoreDown:
        return


def _limit_by_address(request: HttpRequest | Request, bucket: str) -> Limit:
    return Limit(bucket.replace("_", "-"), client_network(request), settings.RATE_LIMITS[bucket])


def _usage(request: HttpRequest | Request, limit: Limit, *, increment: bool = True) -> Usage:
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
    # A limit of zero is the library's word for "the cache did not count".
    if not usage["limit"]:
        logger.warning("rate limits are not applied: the cache does not count")
        raise CounterStoreDown
    # The library's time is one second short.
    return Usage(limit, usage["count"], max(0, usage["time_left"]) + 1)


def _settle(request: HttpRequest | Request, usages: Sequence[Usage]) -> None:
    """Leave the fields for the answer, and refuse what was one too many."""
    request.META[META_KEY] = _fields(usages)
    _refuse([usage for usage in usages if usage.exceeded])


def _refuse(full: Sequence[Usage]) -> None:
    for usage in full:
        LIMITED.labels(usage.limit.policy).inc()
    if full:
        raise RateLimited(headers={"Retry-After": str(max(usage.seconds_left for usage in full))})


def _fields(usages: Sequence[Usage]) -> dict[str, str]:
    """Return the fields of draft-ietf-httpapi-ratelimit-headers: structured lists of named policies."""
    return {
        "RateLimit-Policy": ", ".join(f'"{usage.limit.policy}";q={usage.limit.calls};w={WINDOW_SECONDS}' for usage in usages),
        "RateLimit": ", ".join(
            f'"{usage.limit.policy}";r={max(0, usage.limit.calls - usage.used)};t={usage.seconds_left}' for usage in usages
        ),
    }

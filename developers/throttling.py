"""Rate limits: fixed windows of a minute, counted in the shared cache.

The edge between two windows lets a burst of twice the limit through; within a window the count is exact.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.http import HttpRequest
from django_ratelimit.core import get_usage
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from marketplace.core.client_address import client_network
from marketplace.core.errors import DependencyUnavailable, RateLimited
from marketplace.core.observing.metrics import LIMITED
from marketplace.core.rate_limit_fields import META_KEY
from marketplace.core.scopes import Scope

from .models import ApiKey
from .principals import Principal

if TYPE_CHECKING:
    # DRF imports its default throttle classes while its own views module is still loading.
    from rest_framework.views import APIView

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


class RateLimits(BaseThrottle):
    """Counts each API call: by key, by user and app, or by address."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Return True or raise the 429.

        Raises:
            DependencyUnavailable: nobody counts, and the operation spends money.
        """
        try:
            count_call(request, limits_of(request))
        except CounterStoreDown as error:
            if _spends(view):
                raise DependencyUnavailable(
                    "Rate limits cannot be checked at the moment, so spending is not possible. Try again later."
                ) from error
        return True


def limits_of(request: HttpRequest | Request) -> list[Limit]:
    """Return the limits that a call counts against: those of the principal in `auth`, of the address where there is none."""
    principal = cast("Principal | None", getattr(request, "auth", None))
    rates = settings.RATE_LIMITS
    if principal is None:
        return [Limit("anonymous", client_network(request), rates["anonymous"])]
    if isinstance(principal.credential, ApiKey):
        return [Limit("default", str(principal.credential.pk), principal.credential.calls_per_minute)]
    # A user's personal tokens together count as one app, and so do our own pages; the console counts as its app.
    caller = principal.app_id or principal.kind
    return [
        Limit("app", f"{principal.user.pk}/{caller}", rates["bearer_app"]),
        Limit("user", str(principal.user.pk), rates["bearer_user"]),
    ]


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


def _spends(view: "APIView") -> bool:
    access = getattr(view, "access", {}).get(getattr(view, "action", None))
    return access is not None and access.scope == Scope.WALLET_SPEND

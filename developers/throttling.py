"""The rate limits of API calls: by key, by user and app, or by IP address."""

from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from marketplace.core.errors import DependencyUnavailable
from marketplace.core.scopes import Scope
from marketplace.http.client_address import client_network
from marketplace.http.rate_limits import CounterStoreDown, RateLimit, count_call

from .models import ApiKey
from .principals import Principal

if TYPE_CHECKING:
    # DRF imports its default throttle classes while its own views module is still loading.
    from rest_framework.views import APIView


class RateLimitThrottle(BaseThrottle):
    """Counts each API call: by key, by user and app, or by IP address."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Return True or raise the 429.

        Raises:
            DependencyUnavailable: the counter store is down, and the operation needs `wallet:spend`.
        """
        try:
            count_call(request, rate_limits_of(request))
        except CounterStoreDown as error:
            if _needs_spend_scope(view):
                raise DependencyUnavailable(
                    "Rate limits cannot be checked at the moment, so operations with wallet:spend are refused. Try again later."
                ) from error
        return True


def rate_limits_of(request: HttpRequest | Request) -> list[RateLimit]:
    """Return the limits that a call counts against: those of the principal in `auth`, of the address where there is none."""
    principal = cast("Principal | None", getattr(request, "auth", None))
    if principal is None:
        return [RateLimit("anonymous", client_network(request), settings.RATE_LIMITS["anonymous"])]
    return rate_limits_of_principal(principal)


def rate_limits_of_principal(principal: Principal) -> list[RateLimit]:
    """Return the limits that a principal's calls count against."""
    rates = settings.RATE_LIMITS
    if isinstance(principal.credential, ApiKey):
        # The policy of every API key is called "default" in the response: a public name, not a fallback.
        return [RateLimit("default", str(principal.credential.pk), principal.credential.calls_per_minute)]
    # A user's personal tokens together count as one app, and so do our own pages; the console counts as its app.
    caller = principal.app_id or principal.kind
    return [
        RateLimit("app", f"{principal.user.pk}/{caller}", rates["bearer_app"]),
        RateLimit("user", str(principal.user.pk), rates["bearer_user"]),
    ]


def _needs_spend_scope(view: "APIView") -> bool:
    access = getattr(view, "access", {}).get(getattr(view, "action", None))
    return access is not None and access.scope == Scope.WALLET_SPEND

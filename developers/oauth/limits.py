"""Rate limits of the token endpoint and of the revocation endpoint, counted separately.

Failures are counted by IP address, which limits the guessing of codes and tokens. Successes are counted by IP address and client,
with a high limit: a server-side client has many users, and nobody can use up its limit from another address.
Both are checked before a call and counted after it, so that simultaneous calls may exceed them slightly.
"""

from contextlib import suppress
from typing import Literal

from django.conf import settings
from django.http import HttpRequest

from marketplace.core.errors import RateLimited
from marketplace.http.client_address import client_network
from marketplace.http.rate_limits import CounterStoreDown, RateLimit, count_call, refuse_when_full

Endpoint = Literal["token", "revocation"]


def failure_limit(request: HttpRequest, endpoint: Endpoint) -> RateLimit:
    """Return the limit of failed calls to an endpoint from the caller's address."""
    return RateLimit(f"oauth-{endpoint}-failures", client_network(request), settings.RATE_LIMITS["oauth_failures"])


def success_limit(request: HttpRequest, endpoint: Endpoint, client_id: str) -> RateLimit:
    """Return the limit of a client's successful calls to an endpoint from the caller's address."""
    return RateLimit(f"oauth-{endpoint}", f"{client_network(request)}/{client_id}", settings.RATE_LIMITS["oauth_client"])


def refuse_excess(request: HttpRequest, limit: RateLimit) -> None:
    """Refuse a call if the limit is reached. While the counter store is down, nothing is refused: the secrets are too long to guess.

    Raises:
        RateLimited: there were too many.
    """
    with suppress(CounterStoreDown):
        refuse_when_full(request, [limit])


def count_outcome(request: HttpRequest, limit: RateLimit) -> None:
    """Count a call that was allowed, even if it reaches the limit: the next one is refused."""
    with suppress(CounterStoreDown, RateLimited):
        count_call(request, [limit])

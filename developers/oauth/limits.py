"""Rate limits of the token endpoint and of the revocation endpoint, counted separately.

Failures are counted by IP address, which limits the guessing of codes and tokens. Successes are counted by IP address and client,
with a high limit: a server-side client has many users, and nobody can use up its limit from another address.
Both are checked before a call and counted after it, so that simultaneous calls may exceed them slightly.
"""

from contextlib import suppress

from django.conf import settings
from django.http import HttpRequest

from marketplace.core.errors import RateLimited
from marketplace.http.client_address import client_network
from marketplace.http.rate_limits import CounterStoreDown, RateLimit, count_call, refuse_when_full


def refuse_excess(request: HttpRequest, endpoint: str, client_id: str | None = None) -> None:
    """Refuse a call from an address that has reached its limit of failures or, with `client_id`, the client's limit of successes.

    While the counter store is down, nothing is refused: the secrets are too long to guess.

    Raises:
        RateLimited: there were too many.
    """
    with suppress(CounterStoreDown):
        refuse_when_full(request, [_limit(request, endpoint, client_id)])


def count_outcome(request: HttpRequest, endpoint: str, client_id: str | None = None) -> None:
    """Count a call: for the client if it succeeded, as a failure if `client_id` is None."""
    # This call is allowed; the next one is refused.
    with suppress(CounterStoreDown, RateLimited):
        count_call(request, [_limit(request, endpoint, client_id)])


def _limit(request: HttpRequest, endpoint: str, client_id: str | None) -> RateLimit:
    network, rates = client_network(request), settings.RATE_LIMITS
    if client_id is None:
        return RateLimit(f"oauth-{endpoint}-failures", network, rates["oauth_failures"])
    return RateLimit(f"oauth-{endpoint}", f"{network}/{client_id}", rates["oauth_client"])

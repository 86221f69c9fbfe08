"""Rate limits of the token endpoint and of the revocation endpoint, counted separately.

What fails is counted by address: whoever guesses codes or tokens fails. What succeeds is counted by address and client,
generously: behind one server-side client there are many users, and no one can use up the calls of a client elsewhere.
Both are looked at before a call and counted after it, so that calls at the same moment may go a few over.
"""

from contextlib import suppress
from enum import StrEnum

from django.conf import settings
from django.http import HttpRequest

from marketplace.core.errors import RateLimited
from marketplace.http.client_address import client_network
from marketplace.http.rate_limits import CounterStoreDown, Limit, count_call, refuse_when_full


class Endpoint(StrEnum):
    """Whose calls are counted."""

    TOKEN = "token"
    REVOCATION = "revocation"


def refuse_excess(request: HttpRequest, endpoint: Endpoint, client_id: str | None = None) -> None:
    """Refuse a call for which there is no room; with the store down nobody is refused: the secrets are too long to guess.

    Args:
        request: The call.
        endpoint: Where.
        client_id: Whose successes are looked at; None for the failures of the address.

    Raises:
        RateLimited: there were too many.
    """
    with suppress(CounterStoreDown):
        refuse_when_full(request, [_limit(request, endpoint, client_id)])


def count_outcome(request: HttpRequest, endpoint: Endpoint, client_id: str | None = None) -> None:
    """Count an answered call: of this client when it succeeded, None when it failed."""
    # It is answered already: the next one is refused.
    with suppress(CounterStoreDown, RateLimited):
        count_call(request, [_limit(request, endpoint, client_id)])


def _limit(request: HttpRequest, endpoint: Endpoint, client_id: str | None) -> Limit:
    network, rates = client_network(request), settings.RATE_LIMITS
    if client_id is None:
        return Limit(f"oauth-{endpoint}-failures", network, rates["oauth_failures"])
    return Limit(f"oauth-{endpoint}", f"{network}/{client_id}", rates["oauth_client"])

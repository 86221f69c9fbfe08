"""The rate limit of discount codes: wrong ones are counted by user, so that nobody finds a code by trying."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.conf import settings
from django.http import HttpRequest

from marketplace.accounts.models import User
from marketplace.core.errors import DependencyUnavailable, RateLimited
from marketplace.http.rate_limits import CounterStoreDown, RateLimit, count_call, refuse_when_full

from .errors import DiscountCodeInvalid


@contextmanager
def limit_guesses(user: User, code: str | None) -> Iterator[None]:
    """Count a wrong discount code, and refuse codes of a user who has sent too many.

    Raises:
        RateLimited: there were too many in the last minute.
        DependencyUnavailable: the counter store is down.
    """
    if not code:
        yield
        return
    # A request of its own: the `RateLimit` fields of the response stay those of the call.
    limits, counted = [RateLimit("discount-codes", str(user.pk), settings.RATE_LIMITS["discount_codes"])], HttpRequest()
    try:
        refuse_when_full(counted, limits)
    except RateLimited as error:
        # For pages and tools too, whose readers do not see headers.
        raise RateLimited(
            "Too many wrong discount codes were sent. Try again in a minute, or leave the code out.", headers=error.headers
        ) from error
    except CounterStoreDown as error:
        raise DependencyUnavailable("Discount codes cannot be checked at the moment. Try again later, or without the code.") from error
    try:
        yield
    except DiscountCodeInvalid:
        # This code is refused anyway; a limit that is reached now stops the next one.
        with suppress(CounterStoreDown, RateLimited):
            count_call(counted, limits)
        raise

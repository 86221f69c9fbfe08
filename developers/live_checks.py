"""Live checks: requests that a form sends while it is being filled in, to show what is wrong before it is sent."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.views.decorators.cache import never_cache

from marketplace.core.errors import RateLimited
from marketplace.http.rate_limits import CounterStoreDown, Limit, count_call

Page = Callable[..., HttpResponseBase]


def live_check(page: Page) -> Page:
    """Answer 204 instead of an error to users who were signed out or exceed the rate limit: the form is checked again when it is sent."""

    def guarded(request: HttpRequest, /, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return HttpResponse(status=204)
        try:
            # When the counter store is down the check goes on: it saves nothing and reveals nothing secret.
            with suppress(CounterStoreDown):
                count_call(request, [Limit("live-checks", str(request.user.pk), settings.RATE_LIMITS["live_checks"])])
        except RateLimited as refusal:
            return HttpResponse(status=204, headers=refusal.headers)
        answer = page(request, *args, **kwargs)
        # The script would follow a redirect and show that page inside the form.
        return HttpResponse(status=204) if isinstance(answer, HttpResponseRedirect) else answer

    return wraps(page)(never_cache(guarded))

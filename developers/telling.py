"""Pages that are asked while somebody fills in a form: bounded, and silent where there is nobody to tell anything."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.views.decorators.cache import never_cache

from marketplace.core.errors import RateLimited

from .throttling import CounterStoreDown, Limit, count_call

Page = Callable[..., HttpResponseBase]


def telling_page(page: Page) -> Page:
    """Answer who was signed out meanwhile, or asks more often than anyone types, with 204: the form is judged when it is sent."""

    def guarded(request: HttpRequest, /, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return HttpResponse(status=204)
        try:
            # With nobody to count it goes on: nothing is saved here, and nothing secret is told.
            with suppress(CounterStoreDown):
                count_call(request, [Limit("telling", str(request.user.pk), settings.RATE_LIMITS["telling"])])
        except RateLimited as refusal:
            return HttpResponse(status=204, headers=refusal.headers)
        answer = page(request, *args, **kwargs)
        # A script that is led elsewhere would show what it finds there.
        return HttpResponse(status=204) if isinstance(answer, HttpResponseRedirect) else answer

    return wraps(page)(never_cache(guarded))

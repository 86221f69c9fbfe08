"""The rate limit of the storefront by IP address: searches and comparisons are costly and need no account."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from marketplace.http.rate_limits import count_by_address

Page = Callable[..., HttpResponse]


def rate_limited(page: Page) -> Page:
    """Count the pages of an anonymous visitor; beyond the limit `RateLimited` is raised."""

    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            count_by_address(request, "browsing")
        return page(request, *args, **kwargs)

    return wraps(page)(guarded)

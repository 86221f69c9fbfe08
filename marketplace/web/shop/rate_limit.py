"""The rate limit of the storefront by IP address: searches are costly and need no account."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from marketplace.http.rate_limits import count_by_address

Page = Callable[[HttpRequest], HttpResponse]


def rate_limited(page: Page) -> Page:
    """Count the pages of an anonymous visitor; beyond the limit `RateLimited` is raised."""

    def guarded(request: HttpRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            count_by_address(request, "browsing")
        return page(request)

    return wraps(page)(guarded)

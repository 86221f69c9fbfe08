"""The rate limit of the storefront by IP address: searches and comparisons are costly and need no account."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from marketplace.http.rate_limits import count_by_address

View = Callable[..., HttpResponse]


def rate_limited(view: View) -> View:
    """Count the requests of an anonymous visitor; beyond the limit `RateLimited` is raised."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            count_by_address(request, "browsing")
        return view(request, *args, **kwargs)

    return guarded

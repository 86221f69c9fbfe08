"""The rate limit of the storefront by client address: searches are costly and need no account."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from marketplace.api.problems import problem_response
from marketplace.core.errors import RateLimited
from marketplace.http.rate_limits import count_by_address

Page = Callable[[HttpRequest], HttpResponse]


def rate_limited(page: Page) -> Page:
    """Answer 429 once an anonymous visitor's address exceeds the limit."""

    def guarded(request: HttpRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            try:
                count_by_address(request, "browsing")
            except RateLimited as refusal:
                return problem_response(refusal, request)
        return page(request)

    return wraps(page)(guarded)

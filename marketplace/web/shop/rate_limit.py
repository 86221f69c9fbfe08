"""Limits how much of the storefront one address may ask for: each search is work for the database, and needs no account."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from marketplace.api.problems import problem_response
from marketplace.core.errors import RateLimited
from marketplace.http.rate_limits import count_by_address

Page = Callable[[HttpRequest], HttpResponse]


def rate_limited(page: Page) -> Page:
    """Answer 429 once a visitor's address has asked for more than people can look at; who is signed in is not counted."""

    def guarded(request: HttpRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            try:
                count_by_address(request, "browsing")
            except RateLimited as refusal:
                return problem_response(refusal, request)
        return page(request)

    return wraps(page)(guarded)

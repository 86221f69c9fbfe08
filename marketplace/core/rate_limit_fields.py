"""Adds the `RateLimit` fields to every response of a limited call, whether it is a success, a problem or a 304."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

# Whoever counts a call leaves its fields under this name in `request.META`.
META_KEY = "marketplace.rate_limit_fields"


class RateLimitFieldsMiddleware:
    """Copies the fields that were left on the request to the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        for name, value in request.META.get(META_KEY, {}).items():
            response[name] = value
        return response

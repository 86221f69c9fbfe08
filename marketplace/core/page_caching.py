"""`Cache-Control` of pages: `no-store` where a session may have influenced the page, otherwise `no-cache`."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import add_never_cache_headers


class PageCachingMiddleware:
    """Gives every page a `Cache-Control` that names none itself: the storefront greets whoever is signed in, and tells what they own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        if "Cache-Control" in response or not response.get("Content-Type", "").startswith("text/html"):
            return response
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            add_never_cache_headers(response)
        else:
            response["Cache-Control"] = "no-cache"
        return response

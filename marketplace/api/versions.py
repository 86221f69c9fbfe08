"""The version of the API, a date, in every response under /api/v1."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

# The date of the newest entry in the changelog (`marketplace/web/docs/changelog.md`).
API_VERSION = "2026-11-28"
HEADER = "API-Version"


class ApiVersionMiddleware:
    """Adds `API-Version` to responses of the API."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path.startswith("/api/v1/"):
            response[HEADER] = API_VERSION
        return response

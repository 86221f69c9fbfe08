"""The version of the API, a date, in every response under /api/v1."""

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

# The date of the newest entry in the changelog (`marketplace/web/docs/changelog.md`).
API_VERSION = "2026-11-29"
HEADER = "API-Version"


class ApiVersionMiddleware(MiddlewareMixin):
    """Adds `API-Version` to responses of the API."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path.startswith("/api/v1/"):
            response[HEADER] = API_VERSION
        return response

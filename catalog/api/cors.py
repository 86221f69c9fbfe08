"""CORS: scripts of any origin may read the public catalog and previews; everything else follows `CORS_ALLOWED_ORIGINS`."""

import re

from corsheaders.conf import conf
from corsheaders.middleware import CorsMiddleware
from corsheaders.signals import check_request_enabled
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# Without the manifest: it needs an API key, which must not be used in browsers.
_OPEN = re.compile(r"/api/v1/(?:categories|assets(?:/[^/]+)?|previews/[^/]+)")


def is_open(path: str) -> bool:
    """Tell whether any origin may read the path."""
    return _OPEN.fullmatch(path) is not None


def allow_public(sender: object, request: HttpRequest, **_kwargs: object) -> bool:
    """Return the same for a request: a receiver of `check_request_enabled`."""
    return is_open(request.path_info)


class OpenCorsMiddleware(CorsMiddleware):
    """Sends `*` on public addresses whatever the Origin, so that a shared cache can serve one response to all; never with credentials."""

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the CORS headers."""
        if not is_open(request.path_info):
            return super().add_response_headers(request, response)
        if request.method == "OPTIONS":
            super().add_response_headers(request, response)
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = ", ".join(conf.CORS_EXPOSE_HEADERS)
        return response


def connect() -> None:
    """Connect `allow_public` to the signal of django-cors-headers."""
    check_request_enabled.connect(allow_public, dispatch_uid="catalog.public")

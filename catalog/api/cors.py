"""CORS: scripts of any origin may read the public catalog and previews; everything else follows `CORS_ALLOWED_ORIGINS`."""

import re

from corsheaders.conf import conf
from corsheaders.middleware import CorsMiddleware
from corsheaders.signals import check_request_enabled
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# The manifest lies one level deeper: it needs a key, and keys have no place in browsers.
_OPEN = re.compile(r"/api/v1/(?:categories|assets(?:/[^/]+)?|previews/[^/]+)")


def is_open(path: str) -> bool:
    """Tell whether the address is one that any origin may read."""
    return _OPEN.fullmatch(path) is not None


def allow_public(sender: object, request: HttpRequest, **_kwargs: object) -> bool:
    """Tell the library whether the address is one that any origin may read."""
    return is_open(request.path_info)


class OpenCorsMiddleware(CorsMiddleware):
    """Says `*` where any origin may read, whether one is named or not: one answer that a cache may hand to all, never with credentials."""

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add what scripts of other origins go by."""
        if not is_open(request.path_info):
            return super().add_response_headers(request, response)
        if request.method == "OPTIONS":
            super().add_response_headers(request, response)
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = ", ".join(conf.CORS_EXPOSE_HEADERS)
        return response


def connect() -> None:
    """Be asked for each request that comes from another origin."""
    check_request_enabled.connect(allow_public, dispatch_uid="catalog.public")

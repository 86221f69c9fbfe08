"""Compresses HTML pages. API responses are left to a proxy, static files are compressed in advance."""

import re

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

# Django's own reading takes this for a browser that wants it.
_REFUSED = re.compile(r"\bgzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)", re.IGNORECASE)


class PageCompressionMiddleware(GZipMiddleware):
    """Django's compression, for pages only. It adds a random length to each, which hides what a secret on it adds (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress a page for a browser that takes it so."""
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        if _REFUSED.search(request.headers.get("Accept-Encoding", "")):
            patch_vary_headers(response, ["Accept-Encoding"])
            return response
        return super().process_response(request, response)

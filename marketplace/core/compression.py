"""Compresses pages and public responses. Static files are compressed in advance, other responses of the API by a proxy."""

import re

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import has_vary_header, patch_vary_headers

# Django's own reading takes this for a browser that wants it.
_REFUSED = re.compile(r"\bgzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)", re.IGNORECASE)
_PAGE = "text/html"
_TEXTS = {"application/json", "application/vnd.oai.openapi+json", "application/xml", "text/markdown", "text/plain"}
_NOT_PUBLIC = re.compile(r"\b(?:private|no-store)\b")


class CompressionMiddleware(GZipMiddleware):
    """Django's compression, which adds a random length to each response and so hides what a secret on a page adds (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress a page, or a text that is the same for everyone, for a client that takes it so."""
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if kind != _PAGE and not (kind in _TEXTS and _is_public(response)):
            return response
        if _REFUSED.search(request.headers.get("Accept-Encoding", "")):
            patch_vary_headers(response, ["Accept-Encoding"])
            return response
        return super().process_response(request, response)


def _is_public(response: HttpResponseBase) -> bool:
    """Tell whether neither a credential nor a session had any influence on a response."""
    return not _NOT_PUBLIC.search(response.headers.get("Cache-Control", "")) and not has_vary_header(response, "Cookie")

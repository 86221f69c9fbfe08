"""Middleware for pages: their Content-Security-Policy, their Cache-Control, and compression of pages and public responses."""

import re

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import add_never_cache_headers, has_vary_header, patch_vary_headers
from django.utils.deprecation import MiddlewareMixin

POLICY_HEADER = "Content-Security-Policy"
_DIRECTIVES = {
    "default-src": "'self'",
    "img-src": "'self' data:",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "object-src": "'none'",
}


def _serialize(directives: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in directives.items())


PAGE_POLICY = _serialize(_DIRECTIVES)
# For forms whose response redirects to another origin: browsers apply form-action to redirects too.
REDIRECTING_FORM_POLICY = _serialize({name: value for name, value in _DIRECTIVES.items() if name != "form-action"})
# For pages that preview images before the upload.
IMAGE_PREVIEW_POLICY = _serialize(_DIRECTIVES | {"img-src": "'self' data: blob:"})


class ContentPolicyMiddleware(MiddlewareMixin):
    """Adds a policy to pages that have none, such as those of the admin."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if POLICY_HEADER not in response and response.get("Content-Type", "").startswith("text/html"):
            response[POLICY_HEADER] = PAGE_POLICY
        return response


class PageCachingMiddleware(MiddlewareMixin):
    """Adds `Cache-Control` to pages that have none, since pages show the signed-in user and what they own."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if "Cache-Control" in response or not response.get("Content-Type", "").startswith("text/html"):
            return response
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            add_never_cache_headers(response)
        else:
            response["Cache-Control"] = "no-cache"
        return response


# Django's middleware ignores q=0.
_GZIP_REFUSED = re.compile(r"\bgzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)", re.IGNORECASE)
_HTML = "text/html"
_TEXTS = {"application/json", "application/vnd.oai.openapi+json", "application/xml", "text/markdown", "text/plain"}
_NOT_PUBLIC = re.compile(r"\b(?:private|no-store)\b")


class CompressionMiddleware(GZipMiddleware):
    """Django's compression, which varies the length of responses at random against BREACH attacks, for pages and public texts."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if kind != _HTML and not (kind in _TEXTS and _is_public(response)):
            return response
        if _GZIP_REFUSED.search(request.META.get("HTTP_ACCEPT_ENCODING", "")):
            patch_vary_headers(response, ["Accept-Encoding"])
            return response
        return super().process_response(request, response)


def _is_public(response: HttpResponseBase) -> bool:
    """Tell whether the response depends on neither a credential nor a session."""
    return not _NOT_PUBLIC.search(response.headers.get("Cache-Control", "")) and not has_vary_header(response, "Cookie")

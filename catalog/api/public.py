"""Public catalog responses, which scripts of any origin may read.

The service caches them until the catalog changes, for 60 seconds at most; shared caches keep them for a few seconds.
"""

import hashlib
import re
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from corsheaders.conf import conf
from corsheaders.middleware import CorsMiddleware
from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response

from marketplace.api.problems import json_problem_response, logged_problem
from marketplace.core import bounds
from marketplace.core.errors import PreconditionFailed
from marketplace.http.rate_limits import count_by_address
from marketplace.monitoring.metrics import CATALOG_RESPONSES

from ..catalog_version import current_version

# Lifetime of a cached response.
CACHE_SECONDS = 60
# Responses to longer queries are not cached, so that nobody can fill the cache with long keys. Nor are larger responses: a cache in memory
# limits only the number of its entries.
CACHED_QUERY_CHARS = 400
CACHED_RESPONSE_BYTES = 64 * bounds.KIB
PRIVATE = "private, no-cache"
# Without the manifest: it needs an API key, which must not be used in browsers.
_OPEN_PATHS = re.compile(r"/api/v1/(?:categories|assets(?:/[^/]+(?:/(?:changes|rights))?)?|previews/[^/]+)")
_HITS, _MISSES = CATALOG_RESPONSES.labels("hit"), CATALOG_RESPONSES.labels("miss")

View = Callable[..., HttpResponseBase]


def cache_until_change(view: View) -> View:
    """Decorate a view whose responses depend on the address and the catalog only.

    Anonymous responses are cached by address and catalog version, which is read with every request. Responses from the cache
    count against the anonymous rate limit. Requests with a credential always call the view; the API ignores sessions.
    """

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        build = partial(view, request, *args, **kwargs)
        if request.method not in {"GET", "HEAD"} or "HTTP_TRANSFER_ENCODING" in request.META:
            return build()
        try:
            if has_credential(request):
                return conditional_response(request, _rendered(build()), {"Cache-Control": PRIVATE})
            began = time.monotonic()
            response = _cached_or_built(request, build)
            return conditional_response(request, response, shared_cache_headers(time.monotonic() - began))
        except Exception as error:  # noqa: BLE001 - what DRF does for the views
            return json_problem_response(logged_problem(error, request), request)

    return wrapper


def _cached_or_built(request: HttpRequest, build: Callable[[], HttpResponseBase]) -> HttpResponse:
    if len(request.META["QUERY_STRING"]) > CACHED_QUERY_CHARS:
        return _rendered(build())
    # Read first, so that the response is at least as new as its version.
    version = current_version()
    key = _cache_key(request, version)
    body = caches["responses"].get(key)
    if body is not None:
        count_by_address(request, "anonymous")
        _HITS.inc()
        return HttpResponse(body, content_type="application/json")
    response = _rendered(build())
    if response.status_code != 200:
        return response
    _MISSES.inc()
    # Not stored if the catalog changed meanwhile: the response may contain the change, and if a database standby takes over that lacks it,
    # this version is current again.
    if len(response.content) <= CACHED_RESPONSE_BYTES and current_version() == version:
        caches["responses"].set(key, response.content, CACHE_SECONDS)
    return response


def has_credential(request: HttpRequest) -> bool:
    """Tell whether the request carries a credential, valid or not."""
    return "HTTP_AUTHORIZATION" in request.META or "HTTP_X_API_KEY" in request.META


def shared_cache_headers(age: float) -> dict[str, str]:
    """Return the headers that let shared caches keep a response for `settings.SHARED_CACHE_SECONDS`, while browsers revalidate it.

    Args:
        age: Seconds since the catalog was first read for the response.
    """
    seconds = settings.SHARED_CACHE_SECONDS
    # nginx counts whole seconds, and may keep a response for almost a second longer.
    nginx_seconds = max(0, int(seconds - 1 - age))
    return {"Cache-Control": f"public, max-age=0, s-maxage={seconds}", "X-Accel-Expires": str(nginx_seconds)}


def conditional_response(request: HttpRequest, response: HttpResponse, headers: dict[str, str]) -> HttpResponseBase:
    """Return a successful response with a strong ETag and these headers, or 304 if the client has it; other responses unchanged.

    Raises:
        PreconditionFailed: If-Match names another ETag.
    """
    if response.status_code != 200:
        return response
    etag = f'"{hashlib.sha256(response.content).hexdigest()}"'
    for name, value in {**headers, "ETag": etag}.items():
        response[name] = value
    conditional = get_conditional_response(request, etag=etag, response=response) or response
    if conditional.status_code == PreconditionFailed.status:
        raise PreconditionFailed
    return conditional


def _rendered(response: Any) -> HttpResponse:
    """Return the response with its content; DRF renders its responses after the view."""
    rendered: HttpResponse = response.render() if hasattr(response, "render") else response
    return rendered


def _cache_key(request: HttpRequest, version: str) -> str:
    address = repr((request.path_info, sorted(request.GET.lists())))
    return f"catalog:{version}:{hashlib.blake2b(address.encode(), digest_size=16).hexdigest()}"


class OpenCorsMiddleware(CorsMiddleware):
    """Sends `*` on public addresses whatever the Origin, so that a shared cache can serve one response to all; never with credentials."""

    def check_signal(self, request: HttpRequest) -> bool:
        """Tell whether any origin may read the address, or the request's origin may."""
        return _OPEN_PATHS.fullmatch(request.path_info) is not None or super().check_signal(request)

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_open = _OPEN_PATHS.fullmatch(request.path_info) is not None
        if not is_open or request.method == "OPTIONS":
            super().add_response_headers(request, response)
        if is_open:
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Expose-Headers"] = ", ".join(conf.CORS_EXPOSE_HEADERS)
        return response

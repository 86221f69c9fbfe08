"""How answers of the public catalog are cached: by the service until the catalog changes, by shared caches for a few seconds."""

import hashlib
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response

from marketplace.api.problems import http_response, logged_problem
from marketplace.core import bounds
from marketplace.core.errors import PreconditionFailed
from marketplace.http.rate_limits import count_by_address
from marketplace.monitoring.metrics import CATALOG

from ..catalog_version import current_version

# An answer that nobody asks for leaves the cache.
SECONDS = 60
# The answer to a longer query is never kept: nobody fills the cache with addresses. Nor is a longer answer: a cache in memory
# is bounded by its number of entries.
QUERY_CHARS = 400
ANSWER_BYTES = 64 * bounds.KIB
PRIVATE = "private, no-cache"
_HITS, _MISSES = CATALOG.labels("hit"), CATALOG.labels("miss")

View = Callable[..., HttpResponseBase]


def cache_until_change(view: View) -> View:
    """Decorate a view whose answers depend on the address and the catalog only.

    Anonymous answers are cached under the address and the catalog's version, which is read with every request, and those from the cache
    count against the anonymous limit. Requests with a credential are answered by the view; a session is none, the API does not read it.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        build = partial(view, request, *args, **kwargs)
        if request.method not in {"GET", "HEAD"} or "HTTP_TRANSFER_ENCODING" in request.META:
            return build()
        try:
            if has_credential(request):
                return revalidated(request, _rendered(build()), {"Cache-Control": PRIVATE})
            began = time.monotonic()
            response = _cached_or_built(request, build)
            return revalidated(request, response, shared_cache_headers(time.monotonic() - began))
        except Exception as error:  # noqa: BLE001 - what DRF does for the views
            return http_response(logged_problem(error, request), request)

    return answer


def _cached_or_built(request: HttpRequest, build: Callable[[], HttpResponseBase]) -> HttpResponse:
    if len(request.META["QUERY_STRING"]) > QUERY_CHARS:
        return _rendered(build())
    # Read first: what is built after that is at least as new.
    version = current_version()
    key = _key(request, version)
    body = caches["answers"].get(key)
    if body is not None:
        count_by_address(request, "anonymous")
        _HITS.inc()
        return HttpResponse(body, content_type="application/json")
    response = _rendered(build())
    if response.status_code != 200:
        return response
    _MISSES.inc()
    # Not with the words of a change that came in between: a standby that takes over without it has this version again.
    if len(response.content) <= ANSWER_BYTES and current_version() == version:
        caches["answers"].set(key, response.content, SECONDS)
    return response


def has_credential(request: HttpRequest) -> bool:
    """Tell whether the request carries a credential, good or bad."""
    return "HTTP_AUTHORIZATION" in request.META or "HTTP_X_API_KEY" in request.META


def shared_cache_headers(age: float) -> dict[str, str]:
    """Return what lets shared caches keep an answer for `settings.SHARED_CACHE_SECONDS`, while browsers revalidate it.

    Args:
        age: Seconds since the catalog was first read for the answer.
    """
    seconds = settings.SHARED_CACHE_SECONDS
    # nginx counts whole seconds, and keeps what it gets at the end of one for almost a second more.
    nginx_seconds = max(0, int(seconds - 1 - age))
    return {"Cache-Control": f"public, max-age=0, s-maxage={seconds}", "X-Accel-Expires": str(nginx_seconds)}


def revalidated(request: HttpRequest, response: HttpResponse, headers: dict[str, str]) -> HttpResponseBase:
    """Return a successful answer with a strong ETag and these headers, or 304 when the client has it; other answers as they are.

    Raises:
        PreconditionFailed: the client wants another one.
    """
    if response.status_code != 200:
        return response
    etag = f'"{hashlib.sha256(response.content).hexdigest()}"'
    for name, value in {**headers, "ETag": etag}.items():
        response[name] = value
    judged = get_conditional_response(request, etag=etag, response=response) or response
    if judged.status_code == PreconditionFailed.status:
        raise PreconditionFailed
    return judged


def _rendered(response: Any) -> HttpResponse:
    """Return the answer of a view with its content: DRF's are rendered after the view."""
    rendered: HttpResponse = response.render() if hasattr(response, "render") else response
    return rendered


def _key(request: HttpRequest, version: str) -> str:
    address = repr((request.path_info, sorted(request.GET.lists())))
    return f"catalog:{version}:{hashlib.blake2b(address.encode(), digest_size=16).hexdigest()}"

"""Public answers as ready bytes: built once for each generation of the catalog, always revalidated (decisions.md section 1)."""

import hashlib
import logging
from collections.abc import Callable
from typing import Any

import orjson
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from ..services import generation

# An entry is never wrong, only unused: its key carries the generation it was built from.
SECONDS = 300

logger = logging.getLogger(__name__)


def public_answer(request: Request, *key: object, build: Callable[["Memo"], Any]) -> HttpResponseBase:
    """Return the JSON answer for a key, from the cache when the catalog has not changed, or 304.

    Args:
        request: The call; only its conditional headers count.
        *key: What the answer depends on besides the catalog, validated.
        build: Returns the answer as JSON values; it is given a memo for parts that answers have in common.
    """
    memo = Memo(generation.current())
    body: bytes = memo.get(("answer", *key), lambda: orjson.dumps(build(memo), option=orjson.OPT_UTC_Z))
    response = HttpResponse(body, content_type="application/json", headers={"Cache-Control": "public, no-cache"})
    return conditional(request._request, response, hashlib.sha256(body).hexdigest())


def conditional(request: HttpRequest, response: HttpResponse, etag: str) -> HttpResponseBase:
    """Return the response with a strong ETag, or 304 when the client has it."""
    response["ETag"] = f'"{etag}"'
    answer = get_conditional_response(request, etag=response["ETag"], response=response)
    return response if answer is None else answer


class Memo:
    """Values of one generation of the catalog. The generation was read first: what is built later is at least as new."""

    def __init__(self, at: int) -> None:
        self._generation = at

    def get(self, key: tuple[object, ...], build: Callable[[], Any]) -> Any:
        """Return the cached value, building it when there is none; a cache that is down costs time, not the answer."""
        name = self._name(key)
        try:
            value = cache.get(name)
        except Exception as error:  # noqa: BLE001 - each cache backend has its own errors
            logger.warning("cached answers cannot be read: %r", error)
            return build()
        if value is None:
            value = build()
            try:
                cache.set(name, value, SECONDS)
            except Exception as error:  # noqa: BLE001 - as above
                logger.warning("cached answers cannot be kept: %r", error)
        return value

    def _name(self, key: tuple[object, ...]) -> str:
        # As Python writes it, not joined text: a caller's "None" is not the absence of a parameter.
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return f"catalog:{self._generation}:{digest}"

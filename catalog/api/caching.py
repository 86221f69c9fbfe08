"""Public answers as ready bytes: built once for each generation of the catalog, always revalidated (decisions.md section 1).

An answer is kept under the address that it answers. It is served by `PublicAnswersMiddleware` before anything else of the
request is looked at, and by the views for callers with a credential. Whether it is still true is the generation's business.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from marketplace.core.observing.metrics import BUILT
from marketplace.core.replica import read_from

from ..services import generation

# So long an answer is kept; it is never old: whatever changes it ends it.
SECONDS = 60
# What is longer is built anew: nobody fills the cache with addresses.
QUERY_CHARS = 400
# What answers have in common: so many values are remembered.
PARTS = 1_000
T = TypeVar("T")

LOOKED_UP = "marketplace.catalog_generation"
PUBLIC = "public, no-cache"
PRIVATE = "private, no-cache"


class Answer(NamedTuple):
    """A body, its validator, and when it was true."""

    generation: int
    body: bytes
    etag: str


def public_answer(request: Request, build: Callable[["Memo"], Any], *, cache_control: str = PUBLIC) -> HttpResponseBase:
    """Return the JSON answer of an address, from the cache when the catalog has not changed, or 304.

    Args:
        request: The call; nothing but its address may matter to the answer.
        build: Returns the answer as JSON values or ready bytes; it is given a memo for parts that answers have in common.
        cache_control: Who may keep it.
    """
    django_request = request._request
    kept = None if LOOKED_UP in django_request.META else find(django_request, answer_key(django_request))
    # It was read first: what is built now is at least as new.
    answer = kept or built(address_of(django_request), build, django_request.META[LOOKED_UP])
    return respond(django_request, answer, cache_control)


def body_at(address: str, build: Callable[["Memo"], Any]) -> bytes:
    """Return the body that an address of ours answers with now, for whoever answers in another way than `public_answer`.

    Args:
        address: Path and query; what is built for callers of the one is served to callers of the other.
        build: As for `public_answer`.
    """
    key = _key("answer", address)
    at, kept = generation.current_and_cached([key])
    answer = Answer(*kept[key]) if key in kept else None
    if answer is None or answer.generation != at:
        answer = built(address, build, at)
    return answer.body


class Memo:
    """Values of one generation of the catalog that answers have in common, in the memory of this process; nobody may change them."""

    _values: ClassVar[dict[str, tuple[int, float, Any]]] = {}

    def __init__(self, at: int) -> None:
        self._at = at

    def get(self, name: str, build: Callable[[], T]) -> T:
        """Return the remembered value, building it when there is none."""
        value: T | None = self.known(name)
        if value is None:
            value = build()
            self.put(name, value)
        return value

    def known(self, name: str) -> Any:
        """Return the remembered value, None when there is none."""
        kept = self._values.get(name)
        return kept[2] if kept is not None and kept[0] == self._at and time.monotonic() < kept[1] else None

    def put(self, name: str, value: object) -> None:
        """Remember a value."""
        if len(self._values) >= PARTS:
            self._values.clear()
        self._values[name] = (self._at, time.monotonic() + SECONDS, value)

    @classmethod
    def forget(cls) -> None:
        """Forget everything."""
        cls._values.clear()


def find(request: HttpRequest, key: str, found: Mapping[str, Any] | None = None) -> Answer | None:
    """Return the present answer of the request's address, and leave the generation on the request.

    Args:
        request: A call.
        key: That of its answer.
        found: What `generation.read_along` of it holds, if that was read already.
    """
    request.META[LOOKED_UP], kept = generation.current_and_cached([key], found)
    answer = Answer(*kept[key]) if key in kept else None
    return answer if answer is not None and answer.generation == request.META[LOOKED_UP] else None


def built(address: str, build: Callable[[Memo], Any], at: int) -> Answer:
    """Return an answer that is made now, and keep it.

    Args:
        address: Path and query.
        build: As for `public_answer`.
        at: The generation as it was learned before.
    """
    value = read_from(lambda: build(Memo(at)), proven=lambda: generation.replayed(at))
    body = value if isinstance(value, bytes) else orjson.dumps(value, option=orjson.OPT_UTC_Z)
    BUILT.inc()
    answer = Answer(at, body, f'"{hashlib.sha256(body).hexdigest()}"')
    if len(address.partition("?")[2]) <= QUERY_CHARS:
        generation.keep(_key("answer", address), tuple(answer), SECONDS)
    return answer


def answer_key(request: HttpRequest) -> str:
    """Return the key of the answer to a request."""
    return _key("answer", address_of(request))


def address_of(request: HttpRequest) -> str:
    """Return path and query."""
    return f"{request.path_info}?{request.META['QUERY_STRING']}"


def _key(kind: str, name: str) -> str:
    return f"catalog:{kind}:{hashlib.blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def respond(request: HttpRequest, answer: Answer, cache_control: str) -> HttpResponseBase:
    """Return the answer with its strong ETag, or 304 when the client has it."""
    headers = {"ETag": answer.etag, "Cache-Control": cache_control}
    asked = request.META.get("HTTP_IF_NONE_MATCH")
    if asked == answer.etag:
        return HttpResponseNotModified(headers=headers)
    headers["Content-Length"] = str(len(answer.body))
    response = HttpResponse(answer.body, content_type="application/json", headers=headers)
    if asked is None and "HTTP_IF_MATCH" not in request.META:
        return response
    return get_conditional_response(request, etag=answer.etag, response=response) or response

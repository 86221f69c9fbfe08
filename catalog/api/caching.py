"""The cache of public responses: each body is built once for each generation of the catalog, and clients always revalidate.

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

from marketplace.core.db.replica import read_from
from marketplace.core.errors import PreconditionFailed
from marketplace.core.observing.metrics import BUILT

from ..services import generation

# So long an answer is kept; it is never old: whatever changes it ends it.
SECONDS = 60
# What is longer is built anew: nobody fills the cache with addresses.
QUERY_CHARS = 400
# What answers have in common: so many values are remembered.
PARTS = 1_000
T = TypeVar("T")

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
    return respond(request._request, _answer_at(address_of(request._request), build), cache_control)


def body_at(address: str, build: Callable[["Memo"], Any]) -> bytes:
    """Return the body that an address of ours answers with now, for whoever answers in another way than `public_answer`.

    Args:
        address: Path and query; what is built for callers of the one is served to callers of the other.
        build: As for `public_answer`.
    """
    return _answer_at(address, build).body


def _answer_at(address: str, build: Callable[["Memo"], Any]) -> Answer:
    # The generation is read first: what is built then is at least as new.
    at, answer = find(key_of(address))
    return answer or built(address, build, at)


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


def find(key: str, found: Mapping[str, Any] | None = None) -> tuple[int, Answer | None]:
    """Return the generation, and the present answer under a key if it is kept.

    Args:
        key: That of an answer.
        found: What `generation.read_along` of it holds, if that was read since the request began.
    """
    at, kept = generation.current_and_cached([key], found)
    answer = Answer(*kept[key]) if key in kept else None
    return at, answer if answer is not None and answer.generation == at else None


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
        generation.keep(key_of(address), tuple(answer), SECONDS)
    return answer


def address_of(request: HttpRequest) -> str:
    """Return path and query; a question mark that was part of the path does not begin the query."""
    return f"{request.path_info.replace('?', '%3F')}?{request.META['QUERY_STRING']}"


def key_of(address: str) -> str:
    """Return the key of the answer of an address."""
    return f"catalog:answer:{hashlib.blake2b(address.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def respond(request: HttpRequest, answer: Answer, cache_control: str) -> HttpResponseBase:
    """Return the answer with its strong ETag, or 304 when the client has it.

    Raises:
        PreconditionFailed: the client wants another one.
    """
    headers = {"ETag": answer.etag, "Cache-Control": cache_control}
    asked = request.META.get("HTTP_IF_NONE_MATCH")
    if asked == answer.etag:
        return HttpResponseNotModified(headers=headers)
    headers["Content-Length"] = str(len(answer.body))
    response = HttpResponse(answer.body, content_type="application/json", headers=headers)
    if asked is None and "HTTP_IF_MATCH" not in request.META:
        return response
    judged = get_conditional_response(request, etag=answer.etag, response=response) or response
    if judged.status_code == PreconditionFailed.status:
        raise PreconditionFailed
    return judged

"""JSON parser, renderer and content negotiation, with orjson."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from marketplace.core import bounds
from marketplace.core.errors import BodyTooLarge, LengthRequired, MalformedBody, UnsupportedType


class OrjsonRenderer(BaseRenderer):
    """Renders UTF-8 JSON, with times in ISO 8601 with `Z`."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None) -> bytes:
        """Return the data as JSON; bytes are returned as they are."""
        if isinstance(data, bytes):
            return data
        return orjson.dumps(data, option=orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS)


class OrjsonParser(BaseParser):
    """Parses a JSON body of limited size."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        request: Request = (parser_context or {})["request"]
        return parse_json(stream, int(request.META.get("CONTENT_LENGTH") or 0))


def refuse_encoded_body(meta: Mapping[str, Any]) -> None:
    """Refuse a chunked body, which WSGI would pass on as empty, and a compressed one.

    Raises:
        LengthRequired: it has no Content-Length.
        UnsupportedType: it is compressed.
    """
    if "HTTP_TRANSFER_ENCODING" in meta:
        raise LengthRequired
    if meta.get("CONTENT_LENGTH") and meta.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() != "identity":
        raise UnsupportedType("Send the body uncompressed; Content-Encoding is not supported.", headers={"Accept-Encoding": "identity"})


def parse_json(stream: Any, content_length: int) -> Any:
    """Return the JSON value in a body of this Content-Length, 0 if it has none.

    Raises:
        BodyTooLarge: more than `bounds.JSON_BODY_BYTES`.
        MalformedBody: not JSON, not UTF-8, nested too deeply, with too many values or duplicate names.
    """
    # Refused by Content-Length before it is read, else by the bytes read.
    body = b"" if content_length > bounds.JSON_BODY_BYTES else stream.read(bounds.JSON_BODY_BYTES + 1)
    if max(content_length, len(body)) > bounds.JSON_BODY_BYTES:
        raise BodyTooLarge(maximumBytes=bounds.JSON_BODY_BYTES)
    # Counted before it is parsed: objects take a hundred times as much memory as their text.
    if _count_values(body) > bounds.MAX_JSON_VALUES:
        raise MalformedBody(f"The body has more than {bounds.MAX_JSON_VALUES:,} values.")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedBody(f"The body is not JSON: {error}.") from error
    if _is_deeper_than(value, bounds.MAX_JSON_DEPTH):
        raise MalformedBody(f"The body is nested more than {bounds.MAX_JSON_DEPTH} levels deep.")
    if value:
        # orjson silently takes the last of duplicate names; a proxy may have checked the first.
        json.loads(body, object_pairs_hook=_refuse_duplicate_names, parse_int=str, parse_float=str)
    return value


def _refuse_duplicate_names(pairs: list[tuple[str, Any]]) -> None:
    """Refuse an object with duplicate names."""
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise MalformedBody(f"The body has {name[: bounds.NAME_CHARS]!r} twice in one object.")
        seen.add(name)


def _count_values(body: bytes) -> int:
    """Return about how many values a JSON text has: the number of commas and brackets outside of strings; 0 if there are few."""
    if _count_separators(body) <= bounds.MAX_JSON_VALUES:
        return 0
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    return _count_separators(b"".join(unescaped.split(b'"')[::2]))


def _count_separators(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _is_deeper_than(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [child for item in layer for child in _children(item)]
        if not layer:
            return False
    return True


def _children(item: Any) -> Sequence[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else ()


class JsonOnly(BaseContentNegotiation):
    """Selects the parser by media type and always renders JSON, whatever `Accept` says."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        """Return the parser for the body's media type, by default JSON."""
        media_type = (request.content_type or "application/json").split(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type

"""Response headers in the OpenAPI document, derived from the operations."""

from collections.abc import Iterator, Mapping
from typing import Any

from .problems import MEDIA_TYPE

_JSON = frozenset({"application/json", MEDIA_TYPE})
HEADERS: Mapping[str, str] = {
    "API-Version": "Date of the newest change of the API, see the changelog.",
    "Accept-Encoding": "`identity`: only uncompressed bodies are accepted.",
    "Accept-Ranges": "`bytes`: parts of the file can be requested by Range.",
    "Allow": "The methods that the address accepts.",
    "Cache-Control": "Who may keep the response, and for how long.",
    "Content-Disposition": "The suggested file name (RFC 6266).",
    "Content-Range": "Which part of the file it is, or how long the file is (RFC 9110).",
    "Content-Usage": "Whether the content may be used to train AI models, `train-ai=y` or `train-ai=n` (IETF draft); absent where the licence terms decide.",
    "ETag": "Names this state. Where 304 is a response, send it in If-None-Match to read again only what has changed; where an operation takes "
    "If-Match, to change a listing only in this state.",
    "Idempotent-Replayed": "`true` if the response is that of an earlier request with this Idempotency-Key.",
    "Location": "Where the file store serves the file.",
    "RateLimit": "Calls left in each limit and seconds until the count starts anew (IETF draft).",
    "RateLimit-Policy": "The limits that the call counts against: calls and seconds (IETF draft).",
    "Retry-After": "Seconds to wait before trying again.",
    "WWW-Authenticate": "The accepted schemes and what is missing (RFC 6750); where OAuth clients learn how to get a token (RFC 9728).",
    "X-Request-Id": "Id of the request: the one that was sent, or a new one. Quote it when you ask for help.",
}


def document_headers(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """Add the headers of each response (a post-processing hook)."""
    result["components"]["headers"] = {
        name: {"description": text, "schema": {"type": "string"}} | ({"required": True} if name == "X-Request-Id" else {})
        for name, text in HEADERS.items()
    }
    for path in result["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                # Includes those that the operation declares itself.
                names = sorted({*_names(operation, status, response), *response.get("headers", ())})
                response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    return result


def _names(operation: Mapping[str, Any], status: str, response: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a response's headers, by its status and its operation."""
    yield from ("API-Version", "Allow", "Cache-Control", "RateLimit", "RateLimit-Policy", "X-Request-Id")
    responses, media_types = operation["responses"], set(response.get("content", ()))
    if status.startswith(("2", "304")):
        ranges = "206" in responses
        if "304" in responses:
            yield "ETag"
        if ranges:
            yield from ("Accept-Ranges", "Content-Usage")
        if media_types - _JSON and "text/html" not in media_types:
            yield "Content-Disposition"
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ())):
            yield "Idempotent-Replayed"
    yield from _HEADERS_BY_STATUS.get(status, ())
    if any(f"`{code}`" in response["description"] for code in _UNFINISHED):
        yield "Retry-After"


# Problems with Retry-After whose status alone does not tell it.
_UNFINISHED = ("idempotency_conflict", "invoice_pending", "upload_finishing")
_HEADERS_BY_STATUS: Mapping[str, tuple[str, ...]] = {
    "206": ("Content-Range",),
    "302": ("Content-Usage", "Location"),
    "401": ("WWW-Authenticate",),
    "403": ("WWW-Authenticate",),
    "415": ("Accept-Encoding",),
    "416": ("Content-Range",),
    "429": ("Retry-After",),
    "503": ("Retry-After",),
}

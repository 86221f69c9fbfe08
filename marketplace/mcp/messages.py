"""Parses a message: media types, size, JSON, and the JSON-RPC envelope."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from mcp_types import INVALID_PARAMS

from marketplace.api.rendering import parse_json, refuse_encoded_body
from marketplace.core.errors import MethodNotAllowed, UnsupportedType

from .errors import NotAcceptable
from .responses import MessageId, ProtocolError, invalid_request

JSON = "application/json"
METHOD_CHARS = 100
ID_CHARS = 200


@dataclass(frozen=True)
class Message:
    """A request, or a notification where it has no id."""

    method: str
    params: dict[str, Any]
    id: MessageId


def parse_message(request: HttpRequest) -> Message:
    """Return the message in a request.

    Raises:
        MethodNotAllowed: it is not a POST; there are no streams to open and no sessions to end.
        NotAcceptable, UnsupportedType: its media types are not supported.
        BodyTooLarge, LengthRequired, MalformedBody: it is not JSON within bounds.
        ProtocolError: it is neither a request nor a notification.
    """
    if request.method != "POST":
        raise MethodNotAllowed(headers={"Allow": "POST"})
    if not request.accepts(JSON):
        raise NotAcceptable
    if request.content_type != JSON:
        raise UnsupportedType(f"Send Content-Type: {JSON}.")
    refuse_encoded_body(request.META)
    return _message(parse_json(request, int(request.META.get("CONTENT_LENGTH") or 0)))


def _message(body: Any) -> Message:
    if isinstance(body, list):
        raise invalid_request("Send one message per request; batches are not supported.")
    if not isinstance(body, dict):
        raise invalid_request("A message must be a JSON object.")
    message_id = body.get("id")
    valid_id = message_id if _is_id(message_id) else None
    if "id" in body and valid_id is None:
        raise invalid_request(f"The id must be an integer or a text of at most {ID_CHARS} characters.")
    if body.get("jsonrpc") != "2.0":
        raise invalid_request('A message must contain "jsonrpc": "2.0".', valid_id)
    method = body.get("method")
    if not isinstance(method, str) or not 0 < len(method) <= METHOD_CHARS:
        raise invalid_request("A message must have a method. Responses are not accepted, since the server sends no requests.", valid_id)
    params = body.get("params", {})
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "params must be an object.", message_id=valid_id)
    return Message(method, params, valid_id)


def _is_id(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and len(value) <= ID_CHARS)

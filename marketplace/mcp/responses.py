"""JSON-RPC responses: results, and errors with their HTTP status."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from pydantic import BaseModel

from developers.audiences import Audience
from marketplace.api.problems import logged_problem, problem_document, problem_headers
from marketplace.core import errors
from marketplace.core.scopes import APP_SCOPES, format_scopes

MessageId = str | int | None

# Problems that the protocol has codes for. Others have their HTTP status as code: those from -32768 to -32000 are reserved.
_CODES = {
    errors.MalformedBody.code: PARSE_ERROR,
    errors.InvalidInput.code: INVALID_PARAMS,
    errors.InternalError.code: INTERNAL_ERROR,
}
# The scopes that clients should request at first: tools that the token may not call are not listed, so that clients would not
# request their scopes later. They get those that their app is granted.
_ALL_SCOPES = format_scopes(APP_SCOPES)


class ProtocolError(Exception):
    """An error of the protocol; its code is one of MCP or JSON-RPC, or the HTTP status of a problem.

    `message_id` is the id in a message that could not be parsed completely; otherwise the caller of `error_response` knows it.
    """

    def __init__(self, code: int, message: str, *, data: Any = None, status: int = 400, message_id: MessageId = None) -> None:
        self.code, self.message, self.data, self.status, self.message_id = code, message, data, status, message_id
        super().__init__(message)


def invalid_request(message: str, message_id: MessageId = None) -> ProtocolError:
    """Return the error for a message that is not a request."""
    return ProtocolError(INVALID_REQUEST, message, message_id=message_id)


def as_json(model: BaseModel) -> dict[str, Any]:
    """Return an object of the protocol as JSON: names as the protocol spells them, without members that are None."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def result_response(message_id: MessageId, result: Mapping[str, Any]) -> HttpResponse:
    """Return the response to a request."""
    return _json({"jsonrpc": "2.0", "id": message_id, "result": result}, 200)


def error_response(cause: Exception, request: HttpRequest, message_id: MessageId = None) -> HttpResponse:
    """Return the response to a request that failed, whatever was raised; log a server error."""
    if isinstance(cause, ProtocolError):
        error = {"code": cause.code, "message": cause.message} | ({} if cause.data is None else {"data": cause.data})
        return _json(_failure(error, cause.message_id if message_id is None else message_id), cause.status)
    problem = logged_problem(cause, request)
    error = {
        "code": _CODES.get(problem.code, problem.status),
        "message": f"{problem.title}. {problem.message}",
        "data": problem_document(problem, request.path),
    }
    headers = problem_headers(problem)
    if challenge := _challenge(problem):
        headers["WWW-Authenticate"] = challenge
    return _json(_failure(error, message_id), problem.status, headers)


def _failure(error: Mapping[str, Any], message_id: MessageId) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "error": error}


def _challenge(problem: errors.Problem) -> str:
    """Return a challenge with the address of the metadata and the scopes to request (RFC 9728, RFC 6750)."""
    metadata = f'resource_metadata="{settings.BASE_URL}/.well-known/oauth-protected-resource{Audience.MCP.path}"'
    match problem:
        case errors.InsufficientScope():
            scope = problem.members.get("requiredScope", "")
            return f'Bearer realm="marketplace", error="insufficient_scope", scope="{scope}", {metadata}'
        case errors.InvalidCredential():
            return f'Bearer realm="marketplace", error="invalid_token", scope="{_ALL_SCOPES}", {metadata}'
        case errors.NotAuthenticated():
            return f'Bearer realm="marketplace", scope="{_ALL_SCOPES}", {metadata}'
        case _:
            return ""


def _json(body: Mapping[str, Any], status: int, headers: Mapping[str, str] | None = None) -> HttpResponse:
    # Responses depend on the token, so no cache may store them.
    all_headers = {"Cache-Control": "no-store"} | dict(headers or {})
    return HttpResponse(orjson.dumps(body, option=orjson.OPT_UTC_Z), status=status, content_type="application/json", headers=all_headers)

"""Renders problem documents (RFC 9457) for API views, middleware and Django's error handlers, and pages for people."""

import errno
import logging
import sys
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

import orjson
from django.conf import settings
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import render
from django_redis.exceptions import ConnectionInterrupted
from redis.exceptions import RedisError
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from marketplace.core import bounds, errors
from marketplace.core.database import was_cancelled
from marketplace.core.ids import current_request_id

MEDIA_TYPE = "application/problem+json"
# The protected resource metadata of RFC 9728, which tells clients where to get a token.
RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource/api/v1"
# Messages for pages, where the problem's own speaks of things that people do not see.
_PAGE_MESSAGES: dict[type[errors.Problem], str] = {
    errors.NotFound: "This page does not exist, or you have no access to it.",
    errors.MalformedRequest: "Your browser sent a request that we can't read or that is too large. Go back, reload the page and try again.",
    errors.InternalError: "It was logged under the number below. Try again; if it happens again, tell us that number.",
    errors.Overloaded: "The service is very busy, so nothing was done. Try again in a few seconds.",
    errors.DependencyUnavailable: "Try again in a few seconds.",
    errors.RateLimited: "Too many pages were requested from your address in a short time. Wait a minute, then try again.",
}
# Statuses whose pages have a Retry-After header too.
_RETRY_STATUSES = {errors.DependencyUnavailable.status, errors.RateLimited.status}

logger = logging.getLogger(__name__)


def problem_document(problem: errors.Problem, path: str) -> dict[str, Any]:
    """Return the problem document: the members of the RFC, `code`, `requestId` and the problem's own."""
    return {
        "type": f"{settings.BASE_URL}/problems/{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.message,
        "instance": path,
        "code": problem.code,
        "requestId": current_request_id(),
        **problem.members,
    }


def problem_headers(problem: errors.Problem) -> dict[str, str]:
    """Return the headers of a problem's response."""
    headers = dict(problem.headers)
    challenge = _challenge(problem)
    if challenge:
        headers.setdefault("WWW-Authenticate", challenge)
    if problem.status == errors.DependencyUnavailable.status:
        headers.setdefault("Retry-After", "5")
    headers["Cache-Control"] = "no-store"
    return headers


def _challenge(problem: errors.Problem) -> str:
    """Return the WWW-Authenticate challenge (RFC 6750, RFC 9728) for a refused credential; empty for other problems."""
    metadata = f'resource_metadata="{settings.BASE_URL}{RESOURCE_METADATA_PATH}"'
    match problem:
        case errors.InsufficientScope():
            scope = problem.members.get("requiredScope", "")
            return f'Bearer realm="marketplace", error="insufficient_scope", scope="{scope}", {metadata}'
        case errors.InvalidCredential():
            return f'Bearer realm="marketplace", error="invalid_token", {metadata}, ApiKey realm="marketplace"'
        case _ if problem.status == errors.NotAuthenticated.status:
            return f'Bearer realm="marketplace", {metadata}, ApiKey realm="marketplace"'
        case _:
            return ""


def json_problem_response(problem: errors.Problem, request: HttpRequest) -> HttpResponse:
    """Return the problem document as a Django response, for code outside of DRF views."""
    body = orjson.dumps(problem_document(problem, request.path))
    headers = problem_headers(problem) | {"Content-Length": str(len(body))}
    return HttpResponse(body, status=problem.status, content_type=MEDIA_TYPE, headers=headers)


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response:
    """Return the problem document for an exception of an API view (DRF's exception handler); log server errors."""
    problem = logged_problem(exc, context["request"])
    set_rollback()
    return Response(
        problem_document(problem, context["request"].path),
        status=problem.status,
        content_type=MEDIA_TYPE,
        headers=problem_headers(problem),
    )


def logged_problem(exc: Exception, request: HttpRequest | Request) -> errors.Problem:
    """Return the problem for an exception, and log a server error."""
    problem = as_problem(exc)
    if problem.status >= errors.InternalError.status:
        # `%r`, because a path may contain line breaks.
        logger.error("%s %r failed", request.method, request.path, exc_info=exc)
    return problem


def as_problem(exc: Exception) -> errors.Problem:
    """Return the problem for an exception; `InternalError` for an unexpected one."""
    match exc:
        case errors.Problem():
            return exc
        case exceptions.ValidationError():
            return errors.InvalidInput(errors=list(islice(field_errors(exc.get_full_details()), bounds.MAX_FIELD_ERRORS)))
        case exceptions.ParseError():
            return errors.MalformedBody(str(exc.detail))
        case exceptions.MethodNotAllowed():
            return errors.MethodNotAllowed()
        case exceptions.UnsupportedMediaType():
            return errors.UnsupportedType("Send the body as application/json, in UTF-8.")
        case Http404() | exceptions.NotFound():
            return errors.NotFound()
        case DjangoPermissionDenied() | exceptions.PermissionDenied():
            return errors.PermissionDenied()
        case UnreadablePostError():
            # The client is slow or has disconnected: not a server error.
            late = isinstance(exc.__cause__, TimeoutError)
            return errors.RequestTimeout() if late else errors.MalformedBody("The body ended too early.")
        case SuspiciousOperation():
            return errors.MalformedRequest()
        case _:
            return _server_problem(exc)


def _server_problem(exc: Exception) -> errors.Problem:
    match exc:
        case OperationalError() if was_cancelled(exc):
            return errors.DependencyUnavailable("The database took too long, so nothing was done. Ask for less, or try again later.")
        case OperationalError() | InterfaceError() | RedisError() | ConnectionInterrupted():
            return errors.DependencyUnavailable()
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return errors.DependencyUnavailable("The service has run out of disk space.")
        case _:
            return errors.InternalError()


def field_errors(details: Any, pointer: str = "#") -> Iterator[dict[str, str]]:
    """Yield `{pointer, code, detail}` for each message in DRF's nested error details.

    The pointer is an RFC 6901 fragment (`#/tags/0`), or `?name` for a query parameter.
    """
    if isinstance(details, Mapping) and set(details) == {"message", "code"} and isinstance(details["code"], str):
        yield {"pointer": pointer, "code": details["code"], "detail": str(details["message"])}
        return
    if isinstance(details, Mapping):
        for name, inner in details.items():
            key = str(name).replace("~", "~0").replace("/", "~1")
            yield from field_errors(inner, _child_pointer(pointer, key))
        return
    for index, inner in enumerate(details):
        message = isinstance(inner, Mapping) and "message" in inner
        yield from field_errors(inner, pointer if message else _child_pointer(pointer, str(index)))


def _child_pointer(pointer: str, key: str) -> str:
    if key == "non_field_errors":
        return pointer
    return key if key.startswith("?") else f"{pointer}/{key}"


def problem_response(problem: errors.Problem, request: HttpRequest) -> HttpResponse:
    """Return a problem document for the API and the MCP server, a page for other addresses."""
    if request.path.startswith(("/api/", "/mcp")):
        return json_problem_response(problem, request)
    own = problem.message != type(problem).detail
    message = problem.message if own else _PAGE_MESSAGES.get(type(problem), problem.message)
    known = problem.status < HTTPStatus.INTERNAL_SERVER_ERROR and _knows_viewer(request)
    context = {"problem": problem, "message": message, "request_id": current_request_id(), "knows_viewer": known}
    page = render(request, "problem.html", context, status=problem.status)
    if problem.status in _RETRY_STATUSES:
        for name, value in problem_headers(problem).items():
            page.headers[name] = value
    return page


def _knows_viewer(request: HttpRequest) -> bool:
    """Tell whether the page can show the viewer's navigation: the middleware has run, and the session can be read."""
    try:
        return bool(request.user.pk or request.user.is_anonymous)
    except (AttributeError, OperationalError, InterfaceError, RedisError, ConnectionInterrupted):
        return False


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a 400 response (Django's `handler400`)."""
    return problem_response(errors.MalformedRequest(), request)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a 403 response (Django's `handler403`)."""
    return problem_response(errors.PermissionDenied(), request)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return a 404 response (Django's `handler404`)."""
    return problem_response(errors.NotFound(), request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return a 503 response if a dependency is down, else a 500 response (Django's `handler500`)."""
    error = sys.exc_info()[1]
    problem = as_problem(error) if isinstance(error, Exception) else errors.InternalError()
    # `ProblemMiddleware` has handled problems of the request.
    dependency_down = problem.status == errors.DependencyUnavailable.status
    return problem_response(problem if dependency_down else errors.InternalError(), request)

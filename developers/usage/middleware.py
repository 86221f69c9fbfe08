"""Middleware that counts every call with a credential, by credential, operation and status."""

import datetime as dt
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponseBase

from marketplace.core.access import CredentialKind
from marketplace.http.monitoring import METHODS

from ..models import AccessToken, FirstPartyToken
from ..models.usage import OPERATION_CHARS
from ..principals import Principal
from .buffer import usage_buffer
from .rows import CallKey

# A view with several operations at one address stores its `CountedOperation` under this name in `request.META`.
OPERATION_KEY = "marketplace.usage_operation"
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class CountedOperation:
    """An operation that calls are counted by."""

    # Method and route name, or a tool's name: never a path, which holds ids.
    name: str
    # The scope that it requires; empty for a public one.
    scope: str = ""
    # The outcome where it differs from the response's status, as for a refusal by a tool, which has 200.
    status: int | None = None


class UsageMiddleware:
    """Hands the call to the buffer once its response is known; it never fails or changes the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        try:
            call = call_of(request, response.status_code)
            if call is not None:
                usage_buffer.count(call)
        except Exception:
            logger.exception("a call was not counted")
        return response


def call_of(request: HttpRequest, status: int) -> CallKey | None:
    """Return what to count; None for a call without a credential, or by a page for its user."""
    # Set by DRF's authentication, and by that of the MCP server.
    principal = getattr(request, "auth", None)
    if not isinstance(principal, Principal) or principal.kind == CredentialKind.FIRST_PARTY:
        return None
    operation = request.META.get(OPERATION_KEY) or operation_of(request)
    now = dt.datetime.now(tz=dt.UTC)
    return CallKey(
        day=now.date(),
        hour=now.hour,
        kind=principal.kind.value,
        app_id=principal.app_id,
        credential_id=_counted_under(principal),
        operation=operation.name[:OPERATION_CHARS],
        scope=operation.scope,
        status=status if operation.status is None else operation.status,
    )


def operation_of(request: HttpRequest) -> CountedOperation:
    """Return the operation of a request, by its method and its route."""
    method = request.method if request.method in METHODS else "OTHER"
    match = request.resolver_match
    if match is None:
        return CountedOperation(f"{method} unknown")
    view: Any = match.func
    action = getattr(view, "actions", {}).get((request.method or "").lower())
    access = getattr(getattr(view, "cls", None), "access", {}).get(action)
    scope = access.scope.value if access is not None and access.scope is not None else ""
    return CountedOperation(f"{method} {match.url_name or 'unnamed'}", scope)


def record_status(request: HttpRequest, status: int) -> None:
    """Record the outcome of a call where it differs from the response's status; the first that is recorded stands."""
    operation: CountedOperation = request.META.get(OPERATION_KEY) or operation_of(request)
    if operation.status is None:
        request.META[OPERATION_KEY] = replace(operation, status=status)


def _counted_under(principal: Principal) -> uuid.UUID:
    """Return the id of the key or named token; of the app for short-lived tokens."""
    credential = principal.credential
    short_lived = isinstance(credential, FirstPartyToken) or (isinstance(credential, AccessToken) and not credential.name)
    return principal.app_id if short_lived and principal.app_id is not None else credential.pk

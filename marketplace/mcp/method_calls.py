"""One call of a method, as its handler sees it."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from mcp_types import CLIENT_CAPABILITIES_META_KEY, INVALID_PARAMS

from developers.principals import Principal
from developers.usage.middleware import OPERATION_KEY, CountedOperation
from marketplace.core.errors import DependencyUnavailable, InsufficientScope
from marketplace.core.scopes import Scope

from .responses import ProtocolError
from .revisions import WITHOUT_HANDSHAKE


@dataclass(frozen=True)
class MethodCall:
    """A method call."""

    request: HttpRequest
    principal: Principal
    # Whether the caller's rate limits were checked.
    limits_checked: bool
    revision: str
    # Validated against the schemas of the revision.
    params: dict[str, Any]

    @property
    def can_open_addresses(self) -> bool:
        """Whether the client can show the user an address to open. Only the newest revision tells it with each call."""
        if self.revision not in WITHOUT_HANDSHAKE:
            return False
        elicitation = self.params["_meta"][CLIENT_CAPABILITIES_META_KEY].get("elicitation")
        return isinstance(elicitation, dict) and elicitation.get("url") is not None

    def answer_to(self, name: str) -> str | None:
        """Return the user's answer to a request that this server made: accept, decline or cancel; None if it was not shown yet."""
        answers = self.params.get("inputResponses") if self.revision in WITHOUT_HANDSHAKE else None
        return None if answers is None else str(answers.get(name, {}).get("action", "cancel"))

    def may(self, scope: Scope | None) -> bool:
        """Tell whether the token carries a scope now."""
        return scope is None or scope in self.principal.scopes

    def begin(self, operation: str, scope: Scope | None) -> None:
        """Record the operation, by a name from a fixed set, for usage counting, and require its scope.

        Raises:
            InsufficientScope: the token does not carry it now.
            DependencyUnavailable: it needs `wallet:spend`, and the counter store is down.
        """
        self.request.META[OPERATION_KEY] = CountedOperation(operation, "" if scope is None else scope.value)
        if scope is not None and not self.may(scope):
            raise InsufficientScope(f"{operation} needs the scope {scope}, which this token does not carry.", requiredScope=scope.value)
        if scope == Scope.WALLET_SPEND and not self.limits_checked:
            raise DependencyUnavailable(
                "Rate limits cannot be checked at the moment, so operations with wallet:spend are refused. Try again later."
            )

    def refuse_cursor(self) -> None:
        """Refuse a cursor for a list that has only one page.

        Raises:
            ProtocolError: there is a cursor.
        """
        if self.params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, "This list has only one page; don't send a cursor.")

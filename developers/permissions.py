"""Checks a principal against the access rule of the view's operation."""

from typing import TYPE_CHECKING, cast

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from marketplace.core.access import BEARER_KINDS, KEY_KINDS, Access, CredentialKind
from marketplace.core.errors import InsufficientScope, InvalidCredential, MethodNotAllowed, NotAuthenticated
from marketplace.core.scopes import APP_SCOPES

from .principals import Principal

if TYPE_CHECKING:
    # DRF imports its default permission classes while its own views module is still loading.
    from rest_framework.views import APIView

    from marketplace.api.views import ApiViewSet


class HasAccess(BasePermission):
    """Lets an operation run when the credential is of a kind it takes and carries its scope."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return True or raise the problem that says what is missing."""
        viewset = cast("ApiViewSet", view)
        access = viewset.access.get(viewset.action or "")
        # There is no action for the method, or it is DRF's own for OPTIONS, which WrongMethodMiddleware answers.
        # All others declare their access: `developers.checks` ensures it.
        if access is None:
            raise MethodNotAllowed(headers={"Allow": ", ".join(view.allowed_methods)})
        principal = cast("Principal | None", request.auth)
        # An MCP token is valid at the MCP server only: here not even for public operations.
        if principal is not None and principal.kind == CredentialKind.MCP:
            raise InvalidCredential("MCP tokens work only at /mcp. Send an API key, a personal token or an app's OAuth token here.")
        if access.public:
            return True
        if principal is None:
            raise NotAuthenticated(_needed(access), headers=_challenge(access))
        if principal.kind not in access.kinds:
            raise InvalidCredential(_needed(access), headers=_challenge(access))
        if access.scope is not None and access.scope not in principal.scopes:
            # An app that was told to request a scope that no app can have would ask its users in vain.
            detail = "" if access.scope in APP_SCOPES else f"No app can have {access.scope}. Use a personal token that has it."
            raise InsufficientScope(detail, requiredScope=access.scope.value)
        return True


def _needed(access: Access) -> str:
    """Return which kind of credential an operation needs, empty if it accepts all kinds."""
    having = f" that has {access.scope}" if access.scope else ""
    if access.kinds == KEY_KINDS:
        return f"Send an API key{having} in X-Api-Key. Personal tokens and OAuth tokens don't work here."
    if access.kinds == BEARER_KINDS:
        return f"Send a token{having} in Authorization: Bearer. API keys don't work here."
    return ""


def _challenge(access: Access) -> dict[str, str]:
    """Return a challenge for API keys where only keys are accepted, so that clients request no tokens for it; else none."""
    return {"WWW-Authenticate": 'ApiKey realm="marketplace"'} if access.kinds == KEY_KINDS else {}

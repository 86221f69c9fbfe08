"""Authentication of requests: checks the origin and the MCP token, and applies rate limits."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from developers.authentication import authenticate_request
from developers.origins import is_open_to_origin
from developers.principals import Principal
from developers.throttling import rate_limits_of
from marketplace.core.access import CredentialKind
from marketplace.core.errors import InvalidCredential, NotAuthenticated, PermissionDenied
from marketplace.http.rate_limits import CounterStoreDown, count_by_address, count_call


def authenticate(request: HttpRequest) -> tuple[Principal, bool]:
    """Return the caller, and whether its rate limits were checked: False while the counter store is down.

    Raises:
        PermissionDenied: a page of another site makes the call (the protocol demands this against DNS rebinding).
        NotAuthenticated, InvalidCredential, AmbiguousCredentials: there is no valid MCP token.
        RateLimited: there were too many calls.
    """
    _refuse_foreign_origin(request)
    principal = authenticate_request(request)
    if principal is None:
        count_by_address(request, "anonymous")
        raise NotAuthenticated("Send an MCP token in Authorization: Bearer.")
    # Read by the usage middleware and the rate limits.
    request.auth = principal  # type: ignore[attr-defined]  # as DRF leaves it on its requests
    # Again, now that the app is known.
    _refuse_foreign_origin(request)
    limits_checked = True
    try:
        count_call(request, rate_limits_of(request))
    except CounterStoreDown:
        limits_checked = False
    if principal.kind != CredentialKind.MCP:
        raise InvalidCredential("Only MCP tokens work here. Create one under Personal tokens in the dashboard, or use OAuth.")
    return principal, limits_checked


def _refuse_foreign_origin(request: HttpRequest) -> None:
    origin = request.headers.get("Origin")
    if origin is None:
        return
    own = urlsplit(settings.BASE_URL)
    listed = {f"{own.scheme}://{own.netloc}".lower(), *(allowed.lower() for allowed in settings.CORS_ALLOWED_ORIGINS)}
    if origin.lower() not in listed and not is_open_to_origin(request):
        raise PermissionDenied("Pages of this origin may not call the MCP server.")

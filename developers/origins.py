"""CORS of the API and the MCP server: pages of approved apps may call them, with their own app's tokens."""

import re

from corsheaders.signals import check_request_enabled
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.dispatch import receiver
from django.http import HttpRequest

from marketplace.core.access import CredentialKind

from .audiences import Audience
from .models import AppOrigin
from .models.apps import AppStatus
from .principals import Principal
from .redirects import calling_origin, is_loopback, origin_of

_APP_TOKEN_KINDS = frozenset({CredentialKind.OAUTH, CredentialKind.MCP})


def is_open_to_origin(request: HttpRequest) -> bool:
    """Tell whether a page of the request's origin may make the call and read the response.

    A call with a token may come from the token's own app. A preflight and a call without a valid credential don't say whose they
    are, so they may come from any approved app. On a local server, programs on the same computer may call the MCP server.
    """
    header = request.headers.get("Origin", "")
    if request.path_info == Audience.MCP.path and is_loopback(settings.BASE_URL) and is_loopback(header):
        return True
    origin = calling_origin(header)
    principal: Principal | None = getattr(request, "auth", None)
    if origin is None:
        return False
    if principal is None:
        return AppOrigin.objects.filter(origin=origin, app__status=AppStatus.APPROVED).exists()
    app = principal.app if principal.kind in _APP_TOKEN_KINDS else None
    return app is not None and origin in map(origin_of, app.redirect_uris.split())


@receiver(check_request_enabled, dispatch_uid="developers.origins")
def allow_origin(sender: object, request: HttpRequest, **_kwargs: object) -> bool:
    """Handle the signal that django-cors-headers sends for each request with an origin."""
    if not re.match(settings.CORS_URLS_REGEX, request.path_info):
        return False
    try:
        return is_open_to_origin(request)
    except (OperationalError, InterfaceError):
        # The database is down; the response says so.
        return False

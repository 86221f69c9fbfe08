"""CORS of the OAuth endpoints: scripts of any origin may call them (Fetch standard).

This is safe because the views neither read nor set cookies, so that a page of another site gets no further than its own
server would. Credentials are never allowed, and the consent page, which uses the session, is not included.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

View = Callable[..., HttpResponse]

_DAY = "86400"


def allow_any_origin(*methods: str) -> Callable[[View], View]:
    """Allow these methods from any origin, and answer preflight requests."""
    allowed = [*methods, "OPTIONS"]

    def decorate(view: View) -> View:
        @wraps(view)
        def opened(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method == "OPTIONS":
                preflight = {
                    "Allow": ", ".join(allowed),
                    "Access-Control-Allow-Methods": ", ".join(methods),
                    # MCP clients send headers of their own. The asterisk never covers Authorization.
                    "Access-Control-Allow-Headers": "*",
                    "Access-Control-Max-Age": _DAY,
                }
                response = HttpResponse(status=204, headers=preflight)
            elif request.method in methods:
                response = view(request, *args, **kwargs)
            else:
                response = HttpResponseNotAllowed(allowed)
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Expose-Headers"] = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
            return response

        return opened

    return decorate

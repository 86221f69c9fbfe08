"""Opens addresses to scripts in browsers, of any origin (Fetch standard).

It is safe because nothing here looks at what a browser adds by itself: no cookie is read and none is set, so that a
foreign page gets no further than its own server would. Credentials are never allowed, and the consent page, which lives
on the session, is not opened.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

View = Callable[..., HttpResponse]

_DAY = "86400"


def open_to_browsers(*methods: str) -> Callable[[View], View]:
    """Let these methods in, from any origin; answer preflights."""
    allowed = [*methods, "OPTIONS"]

    def decorate(view: View) -> View:
        @wraps(view)
        def opened(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method == "OPTIONS":
                preflight = {
                    "Allow": ", ".join(allowed),
                    "Access-Control-Allow-Methods": ", ".join(methods),
                    # Tool clients send headers of their own. The asterisk never covers Authorization.
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

"""The Content-Security-Policy of our pages: own files only, no inline script or style, no other host."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

HEADER = "Content-Security-Policy"
_PAGE = {
    "default-src": "'self'",
    "img-src": "'self' data:",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "object-src": "'none'",
}


def _written(directives: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in directives.items())


PAGE_POLICY = _written(_PAGE)
# For forms that are answered with an address of someone else's: browsers hold those to form-action too.
LEADING_AWAY_POLICY = _written({name: value for name, value in _PAGE.items() if name != "form-action"})
# For pages that show pictures before they are uploaded.
PICTURES_POLICY = _written(_PAGE | {"img-src": "'self' data: blob:"})


class ContentPolicyMiddleware:
    """Gives every page a policy that names none itself, as the admin does."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        if HEADER not in response and response.get("Content-Type", "").startswith("text/html"):
            response[HEADER] = PAGE_POLICY
        return response

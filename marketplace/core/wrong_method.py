"""A readable page for browsers that get a 405."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed

from .api.problems import answer
from .errors import MethodNotAllowed

SENT = "This page doesn't accept form data. Go back, reload the page and try again."
LOOKED_AT = "This address cannot be opened directly: it only accepts form data. Start again from the page with the form."


class WrongMethodMiddleware:
    """Puts a page into an empty 405, of which a browser would make one of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        if not isinstance(response, HttpResponseNotAllowed) or response.content or not request.accepts("text/html"):
            return response
        page = answer(MethodNotAllowed(LOOKED_AT if request.method in {"GET", "HEAD"} else SENT), request)
        for name, value in response.headers.items():
            # `Allow`, and what lets scripts of other origins read the answer.
            page.headers.setdefault(name, value)
        return page

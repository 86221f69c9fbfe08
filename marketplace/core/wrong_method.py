"""The methods of an address: `OPTIONS` names them, and a browser that used another gets a readable page."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed

from .api.problems import answer
from .errors import MethodNotAllowed

SENT = "This page doesn't accept form data. Go back, reload the page and try again."
LOOKED_AT = "This address cannot be opened directly: it only accepts form data. Start again from the page with the form."


class WrongMethodMiddleware:
    """Answers `OPTIONS` with the methods of a view that does not know it, and puts a page into an empty 405."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        if request.method == "OPTIONS" and response.status_code == MethodNotAllowed.status and "Allow" in response:
            return HttpResponse(status=204, headers={"Allow": f"{response['Allow']}, OPTIONS"})
        if not isinstance(response, HttpResponseNotAllowed) or response.content or not request.accepts("text/html"):
            return response
        page = answer(MethodNotAllowed(LOOKED_AT if request.method in {"GET", "HEAD"} else SENT), request)
        for name, value in response.headers.items():
            # `Allow`, and what lets scripts of other origins read the answer.
            page.headers.setdefault(name, value)
        return page

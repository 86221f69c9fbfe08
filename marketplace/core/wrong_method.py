"""What people see who send a form to an address that takes none."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed

from .api.problems import answer
from .errors import MethodNotAllowed


class WrongMethodMiddleware:
    """Puts a page into an empty 405, of which a browser would make one of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        if not isinstance(response, HttpResponseNotAllowed) or response.content or not request.accepts("text/html"):
            return response
        page = answer(MethodNotAllowed("This address takes nothing that is sent to it. Go back, reload the page and try again."), request)
        page["Allow"] = response["Allow"]
        return page

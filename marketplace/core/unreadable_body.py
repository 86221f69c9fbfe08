"""An answer for a view that cannot read its request's body."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, UnreadablePostError

from .api.problems import answer, as_problem


class UnreadableBodyMiddleware:
    """Answers 400 or 408 where a view reads a body that ends too early or does not arrive in time."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the answer to a view's exception."""
        return answer(as_problem(exception), request) if isinstance(exception, UnreadablePostError) else None

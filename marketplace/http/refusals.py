"""Middleware for requests that are too large, have a method that the view does not allow, or for which a view raises a problem."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed, UnreadablePostError
from django.utils.deprecation import MiddlewareMixin
from django.views.decorators.http import require_http_methods
from rest_framework.views import APIView

from marketplace.api.problems import as_problem, problem_response
from marketplace.core import bounds
from marketplace.core.errors import AddressTooLong, BodyTooLarge, HeadersTooLarge, MethodNotAllowed, Problem

from .request_body import is_upload

LENGTH_DIGITS = 1_000
FORMS = {"application/x-www-form-urlencoded", "multipart/form-data"}


class RequestSizeMiddleware(MiddlewareMixin):
    """Responds 414, 431 or 413 to an address, headers or a form beyond the limits in `bounds`; uploads have limits of their own."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if len(request.META.get("QUERY_STRING", "")) + len(request.path_info) > bounds.ADDRESS_BYTES:
            return problem_response(AddressTooLong(maximumBytes=bounds.ADDRESS_BYTES), request)
        headers = [len(name) + len(value) for name, value in request.META.items() if name.startswith("HTTP_")]
        # Python before 3.11.10 reads a quoted cookie in time that grows with the square of its length (CVE-2024-7592).
        if max(headers, default=0) > bounds.HEADER_BYTES:
            return problem_response(HeadersTooLarge(maximumBytes=bounds.HEADER_BYTES), request)
        if sum(headers) > bounds.HEADERS_BYTES:
            return problem_response(HeadersTooLarge(maximumBytes=bounds.HEADERS_BYTES), request)
        length = request.META.get("CONTENT_LENGTH") or "0"
        # Python refuses to read a number of thousands of digits.
        if len(length) > LENGTH_DIGITS:
            return problem_response(BodyTooLarge(maximumBytes=bounds.FORM_BYTES), request)
        too_large = length.isascii() and length.isdigit() and int(length) > bounds.FORM_BYTES
        if too_large and request.content_type in FORMS and not is_upload(request.META):
            return problem_response(BodyTooLarge(maximumBytes=bounds.FORM_BYTES), request)
        return None


FORM_REFUSED = "This page doesn't accept form data. Go back, reload the page and try again."
FORM_REQUIRED = "This address cannot be opened directly: it only accepts form data. Start again from the page with the form."


# Attribute of a view with its methods.
METHODS_ATTRIBUTE = "methods"
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def declare_methods(*methods: str) -> Callable[[View], View]:
    """Declare the methods of a view, for responses to `OPTIONS`; HEAD is implied by GET."""

    def decorate(view: View) -> View:
        setattr(view, METHODS_ATTRIBUTE, methods)
        return view

    return decorate


def allow_methods(*methods: str) -> Callable[[View], View]:
    """Declare the methods of a view, and refuse others."""
    allowed = with_head(methods)

    def decorate(view: View) -> View:
        return declare_methods(*methods)(require_http_methods(allowed)(view))

    return decorate


def with_head(methods: Sequence[str]) -> list[str]:
    """Return these methods, and HEAD if GET is one of them."""
    return [*methods, *(["HEAD"] if "GET" in methods else [])]


class WrongMethodMiddleware(MiddlewareMixin):
    """Responds to `OPTIONS` for views that do not, and adds a page to an empty 405 response."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        # From API views, and from views that refuse other methods themselves.
        if request.method == "OPTIONS" and response.status_code == MethodNotAllowed.status and "Allow" in response:
            tus_headers = {name: value for name, value in response.items() if name.startswith("Tus-")}
            return HttpResponse(status=204, headers={"Allow": f"{response['Allow']}, OPTIONS", **tus_headers})
        if not isinstance(response, HttpResponseNotAllowed) or response.content or not request.accepts("text/html"):
            return response
        page = problem_response(MethodNotAllowed(FORM_REQUIRED if request.method in {"GET", "HEAD"} else FORM_REFUSED), request)
        for name, value in response.headers.items():
            # `Allow` and the CORS headers.
            page.headers.setdefault(name, value)
        return page

    def process_view(self, request: HttpRequest, view: Callable[..., HttpResponseBase], _args: Any, _kwargs: Any) -> HttpResponse | None:
        """Respond to `OPTIONS` if the view declares its methods; refuse PUT for Django's form views, which treat it as POST."""
        view_class = getattr(view, "view_class", None)
        if view_class is not None and not issubclass(view_class, APIView):
            methods = with_head([method for method in ("GET", "POST") if hasattr(view_class, method.lower())])
            if request.method not in [*methods, "OPTIONS"]:
                return HttpResponseNotAllowed(methods)
        else:
            methods = with_head(getattr(view, METHODS_ATTRIBUTE, ()))
        if methods and request.method == "OPTIONS":
            return HttpResponse(status=204, headers={"Allow": ", ".join([*methods, "OPTIONS"])})
        return None


class ProblemMiddleware(MiddlewareMixin):
    """Responds to a problem that a view raises, such as `NotFound`, and to a body that ends too early or does not arrive in time."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the response to a problem of the request; Django handles and logs those of the service."""
        if not isinstance(exception, Problem | UnreadablePostError):
            return None
        problem = as_problem(exception)
        return problem_response(problem, request) if problem.status < 500 else None

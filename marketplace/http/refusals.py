"""Middleware that refuses a request in place of its view: too large, of a method that the address does not take, or with an unreadable body."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed, UnreadablePostError
from django.views.decorators.http import require_http_methods
from rest_framework.views import APIView

from marketplace.api.problems import answer, as_problem
from marketplace.core import bounds
from marketplace.core.errors import AddressTooLong, BodyTooLarge, HeadersTooLarge, MethodNotAllowed

from .request_body import is_upload

FORMS = {"application/x-www-form-urlencoded", "multipart/form-data"}


class RequestSizeMiddleware:
    """Answers 414, 431 and 413 to an address, headers and a form of more than the bytes in `bounds`; uploads have limits of their own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        if len(request.META.get("QUERY_STRING", "")) + len(request.path_info) > bounds.ADDRESS_BYTES:
            return answer(AddressTooLong(maximumBytes=bounds.ADDRESS_BYTES), request)
        headers = [len(name) + len(value) for name, value in request.META.items() if name.startswith("HTTP_")]
        # Python before 3.11.10 reads a quoted cookie in time that grows with the square of its length (CVE-2024-7592).
        if max(headers, default=0) > bounds.HEADER_BYTES:
            return answer(HeadersTooLarge(maximumBytes=bounds.HEADER_BYTES), request)
        if sum(headers) > bounds.HEADERS_BYTES:
            return answer(HeadersTooLarge(maximumBytes=bounds.HEADERS_BYTES), request)
        long = int(request.META.get("CONTENT_LENGTH") or 0) > bounds.FORM_BYTES
        if long and request.content_type in FORMS and not is_upload(request.META):
            return answer(BodyTooLarge(maximumBytes=bounds.FORM_BYTES), request)
        return self.get_response(request)


SENT = "This page doesn't accept form data. Go back, reload the page and try again."
LOOKED_AT = "This address cannot be opened directly: it only accepts form data. Start again from the page with the form."


# Where a view keeps its methods.
METHODS = "methods"
View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def declare_methods(*methods: str) -> Callable[[View], View]:
    """Declare which methods a view takes, besides HEAD with GET: what `OPTIONS` says to everybody, before the view asks who calls."""

    def decorate(view: View) -> View:
        setattr(view, METHODS, methods)
        return view

    return decorate


def allow_methods(*methods: str) -> Callable[[View], View]:
    """Declare which methods a view takes, and refuse the others."""
    allowed = with_head(methods)

    def decorate(view: View) -> View:
        return declare_methods(*methods)(require_http_methods(allowed)(view))

    return decorate


def with_head(methods: Sequence[str]) -> list[str]:
    """Return these methods, and HEAD where GET is one of them."""
    return [*methods, *(["HEAD"] if "GET" in methods else [])]


class WrongMethodMiddleware:
    """Answers `OPTIONS` for the views that do not know it, and puts a page into an empty 405."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self.get_response(request)
        # Of the API and of views that only refuse other methods.
        if request.method == "OPTIONS" and response.status_code == MethodNotAllowed.status and "Allow" in response:
            return HttpResponse(status=204, headers={"Allow": f"{response['Allow']}, OPTIONS"})
        if not isinstance(response, HttpResponseNotAllowed) or response.content or not request.accepts("text/html"):
            return response
        page = answer(MethodNotAllowed(LOOKED_AT if request.method in {"GET", "HEAD"} else SENT), request)
        for name, value in response.headers.items():
            # `Allow`, and what lets scripts of other origins read the answer.
            page.headers.setdefault(name, value)
        return page

    def process_view(self, request: HttpRequest, view: Callable[..., HttpResponseBase], _args: Any, _kwargs: Any) -> HttpResponse | None:
        """Answer `OPTIONS` where the view declares its methods; refuse PUT to Django's form views, which take it for POST."""
        page = getattr(view, "view_class", None)
        if page is not None and not issubclass(page, APIView):
            methods = with_head([method for method in ("GET", "POST") if hasattr(page, method.lower())])
            if request.method not in [*methods, "OPTIONS"]:
                return HttpResponseNotAllowed(methods)
        else:
            methods = with_head(getattr(view, METHODS, ()))
        if methods and request.method == "OPTIONS":
            return HttpResponse(status=204, headers={"Allow": ", ".join([*methods, "OPTIONS"])})
        return None


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

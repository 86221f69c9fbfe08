"""Refuses long addresses, headers and forms before anything reads them."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from . import bounds
from .api.problems import answer
from .errors import AddressTooLong, BodyTooLarge, HeadersTooLarge
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

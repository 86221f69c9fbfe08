"""Refuses long addresses and long forms before anything reads them."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from . import bounds
from .api.problems import answer
from .errors import AddressTooLong, BodyTooLarge

FORM = "application/x-www-form-urlencoded"


class RequestSizeMiddleware:
    """Answers 414 to an address of more than `bounds.ADDRESS_BYTES`, 413 to a form of more than `bounds.FORM_BYTES`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        if len(request.META.get("QUERY_STRING", "")) + len(request.path_info) > bounds.ADDRESS_BYTES:
            return answer(AddressTooLong(maximumBytes=bounds.ADDRESS_BYTES), request)
        if request.content_type == FORM and int(request.META.get("CONTENT_LENGTH") or 0) > bounds.FORM_BYTES:
            return answer(BodyTooLarge(maximumBytes=bounds.FORM_BYTES), request)
        return self.get_response(request)

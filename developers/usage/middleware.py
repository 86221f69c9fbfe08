"""Middleware that counts every call with a credential, whatever its status."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from .buffer import usage
from .calls import call_of

logger = logging.getLogger(__name__)


class UsageMiddleware:
    """Hands the call to the buffer once its response is known; it never fails or changes the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, then count it."""
        response = self.get_response(request)
        # Set by DRF's authentication.
        if getattr(request, "auth", None) is not None:
            self._count(request, response.status_code)
        return response

    def _count(self, request: HttpRequest, status: int) -> None:
        try:
            call = call_of(request, status)
            if call is not None:
                usage.count(call)
        except Exception:
            logger.exception("a call was not counted")

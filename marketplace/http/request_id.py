"""One id for each request: accepted or made, echoed, in every log line, audit row and problem document."""

import re
from collections.abc import Callable
from typing import Any

from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase

from marketplace.core.ids import NO_REQUEST, REQUEST_ID, new_id

_ACCEPTED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class RequestIdMiddleware:
    """Sets and echoes `X-Request-Id`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request under its id."""
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _ACCEPTED.fullmatch(given) else str(new_id())
        REQUEST_ID.set(request_id)
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response


@receiver(request_finished, dispatch_uid="core.request_id")
def _forget(**_kwargs: Any) -> None:
    """Forget the id only now: Django logs refusals when the middlewares have returned, and files are read after that."""
    REQUEST_ID.set(NO_REQUEST)

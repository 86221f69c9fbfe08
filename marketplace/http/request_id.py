"""The id of each request: taken from the client or generated, and part of logs, audit entries and problem documents."""

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
        """Process the request with its id."""
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _ACCEPTED.fullmatch(given) else str(new_id())
        REQUEST_ID.set(request_id)
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response


@receiver(request_finished, dispatch_uid="core.request_id")
def _reset(**_kwargs: Any) -> None:
    """Reset the id only now: Django logs errors after the middleware has returned, and streams files after that."""
    REQUEST_ID.set(NO_REQUEST)

"""One id for each request: accepted or made, echoed, in every log line, audit row and problem document."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase

from .ids import new_id

NONE = "-"
_ACCEPTED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_current: ContextVar[str] = ContextVar("request_id", default=NONE)


def current_request_id() -> str:
    """Return the id of the request being answered, `-` outside of one."""
    return _current.get()


@contextmanager
def under_id(name: str) -> Iterator[None]:
    """Let what happens outside of a request, such as a job, bear a name of its own in log lines and audit rows."""
    token = _current.set(name)
    try:
        yield
    finally:
        _current.reset(token)


class RequestIdMiddleware:
    """Sets and echoes `X-Request-Id`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request under its id."""
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _ACCEPTED.fullmatch(given) else str(new_id())
        _current.set(request_id)
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response


@receiver(request_finished, dispatch_uid="core.request_id")
def _forget(**_kwargs: Any) -> None:
    """Forget the id only now: Django logs refusals when the middlewares have returned, and files are read after that."""
    _current.set(NONE)


class RequestIdFilter(logging.Filter):
    """Adds `request_id` to every log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Stamp the record; never drops one."""
        record.request_id = _current.get()
        return True

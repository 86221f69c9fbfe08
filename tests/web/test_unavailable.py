"""A page whose database or cache is down is a 503 that says when to try again; any other crash stays a bare 500."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django_redis.exceptions import ConnectionInterrupted
from redis.exceptions import RedisError

from marketplace.core.errors import DependencyUnavailable, NotFound

BODY = "secret words of an error"


def failing(error: Exception) -> Callable[..., Any]:
    """Return what raises the error, whatever it is asked."""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    return fail


@pytest.fixture
def browser() -> Client:
    """A browser that sees what visitors see."""
    return Client(raise_request_exception=False)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (OperationalError(BODY), 503),
        (RedisError(BODY), 503),
        (ConnectionInterrupted(BODY), 503),
        (DependencyUnavailable(), 503),
        (NotFound(), 404),
        (ValueError(BODY), 500),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_failure_of_a_page_says_whether_to_come_back(
    browser: Client, monkeypatch: pytest.MonkeyPatch, db: None, error: Exception, status: int
) -> None:
    monkeypatch.setattr("allauth.account.views.LoginView.dispatch", failing(error))
    answer = browser.get("/account/login/")
    assert (answer.status_code, "Retry-After" in answer.headers) == (status, status == 503)
    assert BODY not in answer.content.decode()

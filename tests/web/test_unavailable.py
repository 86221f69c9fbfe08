"""A page whose database or cache is down is a 503 that says when to try again; any other crash stays a bare 500."""

from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.test import Client
from django_redis.exceptions import ConnectionInterrupted
from redis.exceptions import RedisError

from marketplace.core.errors import DependencyUnavailable, NotFound

BODY = "secret words of an error"


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
def test_failure_of_a_page_says_whether_to_come_back(monkeypatch: pytest.MonkeyPatch, db: None, error: Exception, status: int) -> None:
    monkeypatch.setattr("allauth.account.views.LoginView.dispatch", Mock(side_effect=error))
    answer = Client(raise_request_exception=False).get("/account/login/")
    assert (answer.status_code, "Retry-After" in answer.headers) == (status, status == 503)
    assert BODY not in answer.content.decode()

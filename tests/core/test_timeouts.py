"""How long a statement of a web process may take."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from django.db import OperationalError, connection, connections
from django.test import Client

from marketplace.api.problems import as_problem
from marketplace.core.database import limit_statements, remove_statement_limit
from marketplace.settings import clients
from marketplace.web.views import front

pytestmark = [pytest.mark.django_db, pytest.mark.database]


class Cancelled(Exception):
    """What psycopg raises."""

    sqlstate = "57014"


@pytest.fixture
def limit(settings: Any) -> Iterator[None]:
    """Limit the statements of connections that are opened from now on."""
    settings.STATEMENT_TIMEOUT_SECONDS = 1
    options = connections.settings["default"]["OPTIONS"]
    before = options.get("options")
    limit_statements()
    yield
    if before is not None:
        options["options"] = before


def in_a_thread(work: Callable[[], object]) -> list[BaseException]:
    """Do it on connections of its own; return what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except OperationalError as error:
            raised.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised


def sleep(seconds: float) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s)", [seconds])


@pytest.mark.postgres
def test_statement_that_takes_too_long_is_cancelled_and_becomes_a_503(limit: None) -> None:
    [error] = in_a_thread(lambda: sleep(5))
    assert isinstance(error, Exception)
    problem = as_problem(error)
    assert (problem.status, problem.code) == (503, "dependency_unavailable")
    assert "database" in problem.message


@pytest.mark.postgres
def test_connection_to_a_server_that_hangs_is_given_up(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.STATEMENT_TIMEOUT_SECONDS = 1
    monkeypatch.setattr(clients, "MARGIN_SECONDS", 0)
    with clients.LimitedConnection.connect(**connection.get_connection_params()) as opened:
        backend = opened.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        try:
            with pytest.raises(psycopg.OperationalError):
                opened.execute("SELECT 1")
        finally:
            os.kill(backend, signal.SIGCONT)
        assert opened.closed


@pytest.mark.postgres
def test_thread_of_jobs_in_a_web_process_is_not_limited(limit: None) -> None:
    def job() -> None:
        remove_statement_limit()
        sleep(1.2)

    assert in_a_thread(job) == []


@pytest.mark.postgres
def test_connections_of_commands_are_not_limited(settings: Any) -> None:
    settings.STATEMENT_TIMEOUT_SECONDS = 1
    assert in_a_thread(lambda: sleep(1.2)) == []


def test_page_whose_statement_was_cancelled_is_an_error_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.raise_request_exception = False
    error = OperationalError("canceling statement due to statement timeout")
    error.__cause__ = Cancelled()
    monkeypatch.setattr(front, "render", Mock(side_effect=error))
    page = client.get("/")
    assert page.status_code == 503
    assert page["Retry-After"]
    assert "database" in page.content.decode()

"""Clients of PostgreSQL and Redis that give up on a server that does not answer."""

import time
from typing import Any, TypeVar

import psycopg
import redis
from django.conf import settings
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout

T = TypeVar("T")
# Allowance on top of the statement timeout, within which a working server answers.
MARGIN_SECONDS = 2
PAUSE_SECONDS = 1.0


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed if the server does not answer within the statement timeout: a hanging server does not cancel statements."""

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Return the server's answer.

        Raises:
            psycopg.OperationalError: the server does not answer.
        """
        limit = settings.STATEMENT_TIMEOUT_SECONDS + MARGIN_SECONDS if timeout is None else timeout
        try:
            return super().wait(gen, interval, limit)
        except _WaitTimeout as error:
            if timeout is not None:
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError("The server does not answer.") from error


class PausingRedis(redis.Redis):
    """A client that fails at once for a second after its server did not answer, so that not every request waits for it."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Return the reply to a command.

        Raises:
            redis.ConnectionError: the server does not answer, or did not a moment ago.
            redis.TimeoutError: the server does not answer in time.
        """
        # The pool is shared by all clients of a process.
        pool: Any = self.connection_pool
        if time.monotonic() < getattr(pool, "paused_until", 0.0):
            raise redis.ConnectionError("Redis did not answer a moment ago.")
        try:
            return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # redis types only part of itself
        except (redis.ConnectionError, redis.TimeoutError):
            pool.paused_until = time.monotonic() + PAUSE_SECONDS
            raise

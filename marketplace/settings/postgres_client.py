"""Connections to PostgreSQL that are given up once their server hangs; a server that hangs cancels no statement."""

from typing import Any, TypeVar

import psycopg
from django.conf import settings
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout

T = TypeVar("T")
# What a statement that the server cancels in time may take on top of its limit.
MARGIN_SECONDS = 2


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed when an answer takes longer than the server would let a statement take."""

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Return the result of an exchange with the server.

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

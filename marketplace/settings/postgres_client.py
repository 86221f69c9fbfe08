"""PostgreSQL connections with a client-side timeout, because a hanging server does not cancel statements."""

from typing import Any, TypeVar

import psycopg
from django.conf import settings
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout

T = TypeVar("T")
# Allowance on top of the statement timeout, within which a working server answers.
MARGIN_SECONDS = 2


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed if the server does not answer within the statement timeout."""

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

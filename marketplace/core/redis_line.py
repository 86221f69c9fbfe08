"""A connection to Redis of each thread's own, for what comes with every request: past the pool, and without waiting for what nobody reads."""

import logging
import os
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import redis
from redis.maint_notifications import MaintNotificationsConfig

logger = logging.getLogger(__name__)
_lines: "WeakSet[Line]" = WeakSet()


class Line(threading.local):
    """The connection of the thread that asks, made when it first does.

    Args:
        to: Returns a client of the server, from whose pool nothing is taken but how to connect.
    """

    def __init__(self, to: Callable[[], redis.Redis]) -> None:
        self._to = to
        # Half of what is asked of it has no types.
        self._client: Any = None
        self._unread = False
        _lines.add(self)

    def ask(self, *command: Any) -> Any:
        """Return the answer to a command; if the connection turns out to have been closed, it is asked once more.

        Raises:
            redis.RedisError: the server does not answer, or refuses.
        """
        held = self._client is not None
        try:
            return self._ready().execute_command(*command)
        except redis.ConnectionError:
            self._hang_up()
            if not held:
                raise
        except redis.TimeoutError:
            self._hang_up()
            raise
        return self._ready().execute_command(*command)

    def tell(self, *command: Any) -> None:
        """Send a command and do not wait: the answer is read before the next one is sent.

        Raises:
            redis.RedisError: it cannot be sent. What is lost on its way is lost without a word.
        """
        try:
            self._ready().connection.send_command(*command)
        except (redis.ConnectionError, redis.TimeoutError):
            self._hang_up()
            raise
        self._unread = True

    def forget(self) -> None:
        """Leave the connection to the process that this one is a copy of."""
        self._client, self._unread = None, False

    def _ready(self) -> Any:
        """Return the client of this thread's connection, on which nothing is left to read."""
        if self._client is None:
            pool = self._to().connection_pool
            # Of a pool of its own: what is left to read must never meet somebody else's question. Its upkeep by a hosting server's
            # notices would tie connection and pool to each other, and a thread that ends would leave them to the garbage collector.
            settings = pool.connection_kwargs | {"maint_notifications_config": MaintNotificationsConfig(enabled=False)}
            own = redis.ConnectionPool(connection_class=pool.connection_class, **settings)
            self._client = redis.Redis(connection_pool=own, single_connection_client=True)
        if self._unread:
            self._unread = False
            try:
                self._client.connection.read_response()
            except redis.ResponseError as error:
                logger.warning("what was told to Redis was refused: %s", error)
        return self._client

    def _hang_up(self) -> None:
        client, self._client, self._unread = self._client, None, False
        if client is not None:
            client.connection_pool.disconnect()


def _forked() -> None:
    for line in list(_lines):
        line.forget()


os.register_at_fork(after_in_child=_forked)

"""A Redis connection for each thread, for commands that are sent with every request: no pool, and no waiting for replies that nobody needs."""

import logging
import os
import re
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import redis
from redis.maint_notifications import MaintNotificationsConfig

_RUN_ID = re.compile(rb"^run_id:(\w+)", re.MULTILINE)

logger = logging.getLogger(__name__)
_connections: "WeakSet[ThreadConnection]" = WeakSet()


class ThreadConnection(threading.local):
    """The connection of the current thread, opened at its first command.

    Args:
        client: Returns a client of the server; only the connection settings of its pool are used.

    Attributes:
        server: The id of the server process that sent this thread's last reply: another one after each start. Empty where it is not told.
    """

    def __init__(self, client: Callable[[], redis.Redis]) -> None:
        self._template = client
        # redis-py types only part of what is used here.
        self._client: Any = None
        self._unread = False
        self.server = ""
        _connections.add(self)

    def call(self, *command: Any) -> Any:
        """Return the reply to a command; when the server had closed the connection, the command is sent once more.

        Raises:
            redis.RedisError: the server does not answer, or replies with an error.
        """
        held = self._client is not None
        try:
            return self._ready().execute_command(*command)
        except redis.ConnectionError:
            self._disconnect()
            if not held:
                raise
        except redis.TimeoutError:
            self._disconnect()
            raise
        return self._ready().execute_command(*command)

    def send(self, *command: Any) -> None:
        """Send a command without waiting for the reply, which is read before the next command is sent.

        Raises:
            redis.RedisError: it cannot be sent. A command that is lost after that is lost silently.
        """
        try:
            self._ready().connection.send_command(*command)
        except (redis.ConnectionError, redis.TimeoutError):
            self._disconnect()
            raise
        self._unread = True

    def drop(self) -> None:
        """Drop the connection without closing it: after a fork it belongs to the parent process."""
        self._client, self._unread = None, False

    def _ready(self) -> Any:
        """Return the client of this thread's connection, with no unread reply on it."""
        if self._client is None:
            pool = self._template().connection_pool
            # A pool of its own, so that an unread reply is never taken for the reply to another thread's command. Maintenance notifications
            # are off: they make connection and pool refer to each other, and a thread that ends would leave both to the garbage collector.
            settings = pool.connection_kwargs | {
                "maint_notifications_config": MaintNotificationsConfig(enabled=False),
                "redis_connect_func": self._connected,
            }
            own = redis.ConnectionPool(connection_class=pool.connection_class, **settings)
            self._client = redis.Redis(connection_pool=own, single_connection_client=True)
        if self._unread:
            self._unread = False
            try:
                self._client.connection.read_response()
            except redis.ResponseError as error:
                logger.warning("a command to Redis was refused: %s", error)
        return self._client

    def _connected(self, connection: Any) -> None:
        """Prepare a new connection as redis-py does, and ask for the server's id: redis-py may reconnect in the middle of a command."""
        self.server = ""
        connection.on_connect()
        connection.send_command("INFO", "server")
        try:
            told = _RUN_ID.search(connection.read_response())
        except redis.ResponseError as error:
            logger.warning("Redis does not tell its run_id, so that answers in it are always checked against the database: %s", error)
        else:
            self.server = told[1].decode() if told else ""

    def _disconnect(self) -> None:
        client, self._client, self._unread = self._client, None, False
        if client is not None:
            client.connection_pool.disconnect()


def _after_fork() -> None:
    for each in list(_connections):
        each.drop()


os.register_at_fork(after_in_child=_after_fork)

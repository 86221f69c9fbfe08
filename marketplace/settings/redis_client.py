"""The Redis client of the caches (django-redis option `REDIS_CLIENT_CLASS`)."""

import time
from typing import Any

import redis

PAUSE_SECONDS = 1.0


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

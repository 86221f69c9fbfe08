"""The shared cache on Redis: django-redis, plus counting a call and reading cached values in one round trip."""

import hashlib
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import django_redis.cache
import redis
from django_redis.client import DefaultClient

from .redis_connection import ThreadConnection

# Increments the counter, which expires from its first increment on, and returns it with the values of the other keys.
_COUNT_AND_READ = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, #KEYS > 1 and redis.call('MGET', unpack(KEYS, 2)) or {}}
"""
_SHA = hashlib.sha1(_COUNT_AND_READ.encode(), usedforsecurity=False).hexdigest()
# The first byte of every pickle; a number that django-redis stores as text never begins with it.
_PICKLED = b"\x80"


class Client(DefaultClient):  # type: ignore[misc]  # django-redis ships no types
    """Unpickles at once what begins like a pickle: the library first tries to parse every value as a number, which is slow for a large one."""

    def decode(self, value: Any) -> Any:
        """Return the value."""
        if isinstance(value, bytes) and value.startswith(_PICKLED):
            return self._serializer.loads(value)
        return super().decode(value)


class RoundTrip:
    """What `RedisCache.counting` sends and gets in one round trip.

    Attributes:
        found: The values of the other keys; None until the round trip was made.
    """

    def __init__(self, also: Collection[str]) -> None:
        self.also = also
        self.counter: object = None
        self.count = 0
        self.found: Mapping[str, Any] | None = None


class _Current(threading.local):
    trip: RoundTrip | None = None


class RedisCache(django_redis.cache.RedisCache):  # type: ignore[misc]  # django-redis ships no types
    """django-redis for django-ratelimit, which calls `add` and then `incr`: inside `counting` both are one command."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {"CLIENT_CLASS": f"{__name__}.Client"} | params.get("OPTIONS", {})
        super().__init__(server, params | {"OPTIONS": options})
        self._current = _Current()
        self._connection = ThreadConnection(lambda: self.client.get_client(write=True))

    @contextmanager
    def counting(self, also: Collection[str] = ()) -> Iterator[RoundTrip]:
        """Inside the block, make the first `add` of 1 count and also read these keys; the `incr` after it returns the number that was counted."""
        self._current.trip = trip = RoundTrip(also)
        try:
            yield trip
        finally:
            self._current.trip = None

    def add(self, key: Any, value: Any, timeout: Any = None, version: Any = None, **options: Any) -> Any:
        """Store a value where there is none; while `counting`, count."""
        trip = self._current.trip
        if trip is None or trip.found is not None or value != 1:
            return super().add(key, value, timeout, version, **options)
        keys = [self.client.make_key(name, version) for name in (key, *trip.also)]
        trip.counter = key
        trip.count, values = self._counted(len(keys), *keys, timeout * 1000)
        trip.found = {name: self.client.decode(value) for name, value in zip(trip.also, values, strict=True) if value is not None}
        return trip.count == 1

    def incr(self, key: Any, *args: Any, **kwargs: Any) -> Any:
        """Increment a counter; inside `counting` that was done already."""
        trip = self._current.trip
        return super().incr(key, *args, **kwargs) if trip is None or trip.counter != key else trip.count

    @property
    def server(self) -> str:
        """The id of the server process that this thread read from last, by `read` or `counting`; empty where it is not told."""
        return self._connection.server

    def read(self, keys: Collection[str]) -> dict[str, Any]:
        """Return what these keys hold, in one round trip."""
        values = self._connection.call("MGET", *(self.client.make_key(key) for key in keys))
        return {key: self.client.decode(value) for key, value in zip(keys, values, strict=True) if value is not None}

    def put(self, key: str, value: object, seconds: int) -> None:
        """Store a value without waiting for the reply."""
        client = self.client
        self._connection.send("SET", client.make_key(key), client.encode(value), "EX", seconds)

    def _counted(self, *given: Any) -> Any:
        try:
            return self._connection.call("EVALSHA", _SHA, *given)
        except redis.exceptions.NoScriptError:
            return self._connection.call("EVAL", _COUNT_AND_READ, *given)

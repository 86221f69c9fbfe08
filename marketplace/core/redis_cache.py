"""The shared cache on Redis: django-redis, and a call counted in one round trip together with whatever else it needs from there."""

import hashlib
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import django_redis.cache
import redis
from django_redis.client import DefaultClient

from .redis_line import Line

# A counter that is new lives as long as it is told; then what the other keys hold.
_COUNT_AND_READ = """
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, #KEYS > 1 and redis.call('MGET', unpack(KEYS, 2)) or {}}
"""
_SHA = hashlib.sha1(_COUNT_AND_READ.encode(), usedforsecurity=False).hexdigest()
# What every pickle begins with, and no number.
_PICKLED = b"\x80"


class Client(DefaultClient):  # type: ignore[misc]  # django-redis ships no types
    """Takes what is no number for none: the library tries, and a large value takes long to deny it. Nothing is compressed here."""

    def decode(self, value: Any) -> Any:
        """Return the value."""
        if isinstance(value, bytes) and value.startswith(_PICKLED):
            return self._serializer.loads(value)
        return super().decode(value)


class Trip:
    """One round trip.

    Attributes:
        found: What the other keys hold; None while nothing was asked.
    """

    def __init__(self, also: Collection[str]) -> None:
        self.also = also
        self.counter: object = None
        self.count = 0
        self.found: Mapping[str, Any] | None = None


class _Present(threading.local):
    trip: Trip | None = None


class RedisCache(django_redis.cache.RedisCache):  # type: ignore[misc]  # django-redis ships no types
    """django-ratelimit counts by `add`, and by `incr` where there was something: two steps, which `counting` makes one."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {"CLIENT_CLASS": f"{__name__}.Client"} | params.get("OPTIONS", {})
        super().__init__(server, params | {"OPTIONS": options})
        self._present = _Present()
        self._line = Line(lambda: self.client.get_client(write=True))

    @contextmanager
    def counting(self, also: Collection[str] = ()) -> Iterator[Trip]:
        """Make the first `add` of a 1 inside count, read these keys along with it, and keep the number for the `incr` after it."""
        self._present.trip = trip = Trip(also)
        try:
            yield trip
        finally:
            self._present.trip = None

    def add(self, key: Any, value: Any, timeout: Any = None, version: Any = None, **options: Any) -> Any:
        """Store a value where there is none; while `counting`, count."""
        trip = self._present.trip
        if trip is None or trip.found is not None or value != 1:
            return super().add(key, value, timeout, version, **options)
        keys = [self.client.make_key(name, version) for name in (key, *trip.also)]
        trip.counter = key
        trip.count, values = self._counted(len(keys), *keys, timeout * 1000)
        trip.found = {name: self.client.decode(value) for name, value in zip(trip.also, values, strict=True) if value is not None}
        return trip.count == 1

    def incr(self, key: Any, *args: Any, **kwargs: Any) -> Any:
        """Count up; what `counting` has counted is done already."""
        trip = self._present.trip
        return super().incr(key, *args, **kwargs) if trip is None or trip.counter != key else trip.count

    def put(self, key: str, value: object, seconds: int) -> None:
        """Store a value without waiting until it is."""
        client = self.client
        self._line.tell("SET", client.make_key(key), client.encode(value), "EX", seconds)

    def _counted(self, *given: Any) -> Any:
        try:
            return self._line.ask("EVALSHA", _SHA, *given)
        except redis.exceptions.NoScriptError:
            return self._line.ask("EVAL", _COUNT_AND_READ, *given)

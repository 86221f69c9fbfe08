"""A Redis that does not answer is waited for once in a while, not by every command."""

import socket
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from marketplace.settings import clients
from marketplace.settings.clients import PAUSE_SECONDS, PausingRedis
from tests.servers.ports import free_port
from tests.servers.redis import redis_in


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time by which the client pauses."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(clients, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_silent_redis_server_delays_only_one_command_in_a_while(clock: SimpleNamespace) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        pool = redis.ConnectionPool(host="127.0.0.1", port=silent.getsockname()[1], socket_timeout=0.05)
        for waits in (True, False, False):
            # django-redis makes a client for each request.
            with pytest.raises(redis.TimeoutError if waits else redis.ConnectionError):
                PausingRedis(connection_pool=pool).get("key")
        clock.now += PAUSE_SECONDS
        with pytest.raises(redis.TimeoutError):
            PausingRedis(connection_pool=pool).get("key")


@pytest.mark.slow
def test_recovered_redis_server_is_used_after_the_pause_and_a_refused_command_begins_none(clock: SimpleNamespace, tmp_path: Any) -> None:
    port = free_port()
    client = PausingRedis(connection_pool=redis.ConnectionPool(host="127.0.0.1", port=port))
    with pytest.raises(redis.ConnectionError):
        client.ping()
    with redis_in(tmp_path, port):
        with pytest.raises(redis.ConnectionError):
            client.ping()
        clock.now += PAUSE_SECONDS
        client.set("text", "no number")
        with pytest.raises(redis.ResponseError):
            client.incr("text")
        assert client.get("text") == b"no number"

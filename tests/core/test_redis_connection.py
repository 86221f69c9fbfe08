"""A thread's own connection to Redis: closed, forked, and with unread replies."""

import gc
import json
import logging
import os
import threading
from contextlib import suppress
from typing import cast

import pytest
import redis
from django.core.cache import caches

from marketplace.core.redis_cache import RedisCache
from marketplace.core.redis_connection import ThreadConnection
from tests.servers.ports import free_port

pytestmark = pytest.mark.engineless


@pytest.fixture
def server(redis_cache: str) -> redis.Redis:
    """Another client of the server."""
    return redis.Redis.from_url(redis_cache)


@pytest.fixture
def connection(server: redis.Redis) -> ThreadConnection:
    """A connection to it."""
    return ThreadConnection(lambda: server)


def cut(server: redis.Redis, connection: ThreadConnection) -> None:
    """Have the server close it."""
    server.client_kill_filter(_id=connection.call("CLIENT", "ID"))


def test_command_that_is_sent_is_done_and_its_reply_is_taken_for_no_other(connection: ThreadConnection) -> None:
    for number in range(3):
        connection.send("SET", "told", number)
    assert (connection.call("GET", "told"), connection.call("GET", "told")) == (b"2", b"2")


def test_refusal_of_a_sent_command_is_logged_and_taken_for_no_other_reply(
    connection: ThreadConnection, caplog: pytest.LogCaptureFixture
) -> None:
    connection.call("SET", "word", "text")
    connection.send("LPUSH", "word", "element")
    with caplog.at_level(logging.WARNING):
        assert connection.call("GET", "word") == b"text"
    assert "WRONGTYPE" in caplog.text


def test_refusal_of_a_called_command_leaves_the_connection_usable(connection: ThreadConnection) -> None:
    held = connection.call("CLIENT", "ID")
    with pytest.raises(redis.ResponseError):
        connection.call("NO-SUCH-COMMAND")
    assert connection.call("CLIENT", "ID") == held


@pytest.mark.parametrize("unread", [False, True])
def test_connection_that_was_closed_is_made_anew(server: redis.Redis, connection: ThreadConnection, unread: bool) -> None:  # noqa: FBT001 - a parameter of the test
    if unread:
        connection.send("SET", "told", 1)
    cut(server, connection)
    assert connection.call("PING") in (b"PONG", True)


def test_connection_on_which_is_only_sent_recovers(server: redis.Redis, connection: ThreadConnection) -> None:
    cut(server, connection)
    # The first is lost on its way, the second finds out.
    for number in (1, 2):
        with suppress(redis.ConnectionError):
            connection.send("SET", "told", number)
    connection.send("SET", "told", 3)
    assert connection.call("GET", "told") == b"3"


def test_server_that_is_not_there_is_tried_again_by_the_next(server: redis.Redis) -> None:
    nobody = redis.Redis(port=free_port(), socket_connect_timeout=1)
    to = [nobody, server]
    connection = ThreadConnection(lambda: to.pop(0))
    with pytest.raises(redis.ConnectionError):
        connection.call("PING")
    assert connection.call("ECHO", "there") == b"there"


def test_each_thread_has_its_own(connection: ThreadConnection) -> None:
    found = [connection.call("CLIENT", "ID")]
    thread = threading.Thread(target=lambda: found.append(connection.call("CLIENT", "ID")))
    thread.start()
    thread.join()
    assert len({*found, connection.call("CLIENT", "ID")}) == 2


def test_thread_that_ends_leaves_no_connection(server: redis.Redis, connection: ThreadConnection) -> None:
    def held() -> int:
        return len(server.client_list())

    before = held()
    gc.disable()
    try:
        for _ in range(5):
            thread = threading.Thread(target=connection.send, args=("SET", "told", 1))
            thread.start()
            thread.join()
        # The server takes a moment to see that they are closed; each question is one.
        for _ in range(100):
            if held() == before:
                break
        assert held() == before
    finally:
        gc.enable()


def test_copy_of_the_process_leaves_the_connection_alone(connection: ThreadConnection) -> None:
    held = connection.call("CLIENT", "ID")
    # Its answer is on the way when the process is copied.
    connection.send("SET", "told", "by the first")
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(write, json.dumps(connection.call("CLIENT", "ID")).encode())
        finally:
            # Nothing of the test run may go on twice.
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        assert json.loads(answer.read()) != held
    os.waitpid(pid, 0)
    assert (connection.call("CLIENT", "ID"), connection.call("GET", "told")) == (held, b"by the first")


def test_call_is_counted_by_a_server_that_has_forgotten_the_script(server: redis.Redis) -> None:
    cache = cast("RedisCache", caches["default"])
    server.script_flush()
    for number in (1, 2):
        with cache.counting() as trip:
            cache.add("counter", 1, 60)
        assert trip.count == number


@pytest.mark.parametrize("value", [0, -7, 12, "", "12", b"\x80", True, None, (5, b"x" * 5_000, '"etag"'), {"of": [1.5]}])
def test_what_is_put_is_got(redis_cache: str, value: object) -> None:
    cache = cast("RedisCache", caches["default"])
    cache.put("value", value, 60)
    # On the connection, so that it is there before it is asked for.
    with cache.counting(["value"]) as trip:
        cache.add("counter", 1, 60)
    assert trip.found == {"value": value}
    assert (cache.get("value", "nothing"), 0 < (cache.ttl("value") or 0) <= 60) == (value, True)


def test_id_of_the_server_is_known_and_asked_for_after_each_reconnection(server: redis.Redis, connection: ThreadConnection) -> None:
    assert connection.server == ""
    connection.call("PING")
    assert connection.server == server.info("server")["run_id"]
    cut(server, connection)
    connection.server = "another"
    # It reconnects by itself.
    connection.call("PING")
    assert connection.server == server.info("server")["run_id"]


def test_server_that_does_not_tell_its_id_answers_all_the_same(server: redis.Redis, caplog: pytest.LogCaptureFixture) -> None:
    server.acl_setuser("quiet", enabled=True, nopass=True, keys="*", commands=["+@all", "-info"])
    try:
        kwargs = server.connection_pool.connection_kwargs
        connection = ThreadConnection(lambda: redis.Redis(host=kwargs["host"], port=kwargs["port"], username="quiet", password="any"))
        with caplog.at_level(logging.WARNING):
            assert (connection.call("ECHO", "here"), connection.server) == (b"here", "")
        assert "does not tell its run_id" in caplog.text
    finally:
        server.acl_deluser("quiet")

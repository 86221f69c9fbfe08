"""A thread's own connection to Redis: closed, forked, and with answers on it that nobody waited for."""

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
from marketplace.core.redis_line import Line
from tests.servers.ports import free_port

pytestmark = pytest.mark.engineless


@pytest.fixture
def server(redis_cache: str) -> redis.Redis:
    """A client of the server, past the line."""
    return redis.Redis.from_url(redis_cache)


@pytest.fixture
def line(server: redis.Redis) -> Line:
    """A line to it."""
    return Line(lambda: server)


def cut(server: redis.Redis, line: Line) -> None:
    """Have the server close the line's connection."""
    server.client_kill_filter(_id=line.ask("CLIENT", "ID"))


def test_what_is_told_is_done_and_its_answer_is_nobodys(line: Line) -> None:
    for number in range(3):
        line.tell("SET", "told", number)
    assert (line.ask("GET", "told"), line.ask("GET", "told")) == (b"2", b"2")


def test_what_is_refused_is_logged_and_is_not_the_answer_to_the_next(line: Line, caplog: pytest.LogCaptureFixture) -> None:
    line.ask("SET", "word", "text")
    line.tell("LPUSH", "word", "element")
    with caplog.at_level(logging.WARNING):
        assert line.ask("GET", "word") == b"text"
    assert "WRONGTYPE" in caplog.text


def test_refusal_of_what_is_asked_leaves_the_line_usable(line: Line) -> None:
    held = line.ask("CLIENT", "ID")
    with pytest.raises(redis.ResponseError):
        line.ask("NO-SUCH-COMMAND")
    assert line.ask("CLIENT", "ID") == held


@pytest.mark.parametrize("told", [False, True])
def test_connection_that_was_closed_is_made_anew(server: redis.Redis, line: Line, told: bool) -> None:  # noqa: FBT001 - a parameter of the test
    if told:
        line.tell("SET", "told", 1)
    cut(server, line)
    assert line.ask("PING") in (b"PONG", True)


def test_line_on_which_only_is_told_mends_by_itself(server: redis.Redis, line: Line) -> None:
    cut(server, line)
    # The first is lost on its way, the second finds out.
    for number in (1, 2):
        with suppress(redis.ConnectionError):
            line.tell("SET", "told", number)
    line.tell("SET", "told", 3)
    assert line.ask("GET", "told") == b"3"


def test_server_that_is_not_there_is_tried_again_by_the_next(server: redis.Redis) -> None:
    nobody = redis.Redis(port=free_port(), socket_connect_timeout=1)
    to = [nobody, server]
    line = Line(lambda: to.pop(0))
    with pytest.raises(redis.ConnectionError):
        line.ask("PING")
    assert line.ask("ECHO", "there") == b"there"


def test_each_thread_has_its_own(line: Line) -> None:
    found = [line.ask("CLIENT", "ID")]
    thread = threading.Thread(target=lambda: found.append(line.ask("CLIENT", "ID")))
    thread.start()
    thread.join()
    assert len({*found, line.ask("CLIENT", "ID")}) == 2


def test_thread_that_ends_leaves_no_connection(server: redis.Redis, line: Line) -> None:
    def held() -> int:
        return len(server.client_list())

    before = held()
    gc.disable()
    try:
        for _ in range(5):
            thread = threading.Thread(target=line.tell, args=("SET", "told", 1))
            thread.start()
            thread.join()
        # The server takes a moment to see that they are closed; each question is one.
        for _ in range(100):
            if held() == before:
                break
        assert held() == before
    finally:
        gc.enable()


def test_copy_of_the_process_leaves_the_connection_alone(line: Line) -> None:
    held = line.ask("CLIENT", "ID")
    # Its answer is on the way when the process is copied.
    line.tell("SET", "told", "by the first")
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(write, json.dumps(line.ask("CLIENT", "ID")).encode())
        finally:
            # Nothing of the test run may go on twice.
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        assert json.loads(answer.read()) != held
    os.waitpid(pid, 0)
    assert (line.ask("CLIENT", "ID"), line.ask("GET", "told")) == (held, b"by the first")


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
    # On the line, so that it is there before it is asked for.
    with cache.counting(["value"]) as trip:
        cache.add("counter", 1, 60)
    assert trip.found == {"value": value}
    assert (cache.get("value", "nothing"), 0 < (cache.ttl("value") or 0) <= 60) == (value, True)

"""A thread that answers one request after another waits now and then, so that others have their turn."""

from types import SimpleNamespace

import pytest

from marketplace.core import turns
from marketplace.core.turns import ALONE, IN_A_ROW, SECONDS, Turns

pytestmark = pytest.mark.engineless


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What threads waited; they do not really."""
    found: list[float] = []
    monkeypatch.setattr(turns, "time", SimpleNamespace(sleep=found.append))
    return found


def begin(taken: Turns, monkeypatch: pytest.MonkeyPatch, *threads: int) -> None:
    for thread in threads:
        monkeypatch.setattr(turns, "get_ident", lambda thread=thread: thread)
        taken.take()


def test_thread_that_keeps_the_turn_waits_after_so_many_requests_in_a_row(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Turns()
    begin(taken, monkeypatch, 1, *[2] * IN_A_ROW)
    assert waits == []
    begin(taken, monkeypatch, 2)
    assert waits == [SECONDS]
    begin(taken, monkeypatch, *[2] * IN_A_ROW)
    assert waits == [SECONDS] * 2


def test_threads_that_take_turns_never_wait(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    begin(Turns(), monkeypatch, *[1, 2] * ALONE)
    assert waits == []


def test_thread_that_is_alone_waits_seldom_for_one_that_may_never_have_had_a_turn(
    waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = Turns()
    begin(taken, monkeypatch, *[1] * ALONE)
    assert waits == []
    begin(taken, monkeypatch, 1)
    assert waits == [SECONDS]

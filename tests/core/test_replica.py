"""Which database reads go to, without a replica at hand."""

from typing import Any

import pytest
from django.db import OperationalError, connections, transaction

from marketplace.accounts.models import User
from marketplace.core.db import replica
from marketplace.core.db.replica import REPLICA, Router, read_alias, read_from

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Pretend that there is a replica; collect where reads are sent."""
    monkeypatch.setattr(replica, "has_replica", lambda: True)
    monkeypatch.setattr(replica, "breaker", replica._CircuitBreaker())
    return []


def ask(reads: list[str], *, proven: Any = lambda: True, fail: bool = False) -> str:
    def build() -> str:
        reads.append(read_alias())
        if fail and read_alias() == REPLICA:
            raise OperationalError
        return "built"

    return read_from(build, proven=proven)


def test_without_a_replica_the_primary_is_read() -> None:
    reads: list[str] = []
    assert ask(reads) == "built"
    assert reads == ["default"]


def test_proven_replica_is_read_and_nothing_outside_is(reads: list[str]) -> None:
    assert ask(reads) == "built"
    assert reads == [REPLICA]
    assert read_alias() == "default"


def test_replica_that_is_behind_is_not_read(reads: list[str]) -> None:
    assert ask(reads, proven=lambda: False) == "built"
    assert reads == ["default"]


def test_inside_of_a_transaction_the_primary_is_read(reads: list[str]) -> None:
    with transaction.atomic():
        ask(reads)
    assert reads == ["default"]


def test_what_the_build_itself_writes_is_read_from_the_primary(reads: list[str]) -> None:
    def build() -> str:
        with transaction.atomic():
            return read_alias()

    assert read_from(build, proven=lambda: True) == "default"


def test_replica_that_fails_is_tried_by_one_caller_in_a_while(reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("marketplace.core.db.replica.time.monotonic", lambda: now[0])
    assert ask(reads, fail=True) == "built"
    ask(reads)
    assert reads == [REPLICA, "default", "default"]
    now[0] += replica.RETRY_SECONDS
    reads.clear()
    # The first of those that come now finds that it is still down; the second does not wait for it.
    ask(reads, fail=True)
    ask(reads)
    assert reads == [REPLICA, "default", "default"]
    now[0] += replica.RETRY_SECONDS
    reads.clear()
    ask(reads)
    ask(reads)
    assert reads == [REPLICA, REPLICA]


def test_error_of_the_primary_is_not_hidden(reads: list[str]) -> None:
    def build() -> str:
        raise OperationalError

    with pytest.raises(OperationalError):
        read_from(build, proven=lambda: True)


def test_router_migrates_and_writes_the_primary_only() -> None:
    router = Router()
    assert router.allow_migrate("default")
    assert not router.allow_migrate(REPLICA)
    assert router.db_for_write(User) == "default"
    assert router.allow_relation(User(), User())
    assert REPLICA not in connections.settings

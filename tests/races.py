"""Calls that start together, each in a thread with a database connection of its own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection, connections

from marketplace.core.errors import Problem
from tests.waiting import PATIENCE_SECONDS, until

THREADS = 16


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Return what each call returned, or the problem that it raised, in the order of the calls.

    Any other exception is raised, such as the database's about a deadlock.
    """
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            # Connecting takes longer than most calls, and would hide a missing lock: all connect, then all begin.
            connection.ensure_connection()
            barrier.wait(PATIENCE_SECONDS)
            return call()
        except Problem as problem:
            return problem
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def outcomes_at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Return what each call returned, or the code that it was refused with."""
    return [outcome.code if isinstance(outcome, Problem) else outcome for outcome in at_once(*calls)]


def refusals_at_once(*calls: Callable[[], Any]) -> list[type[Problem] | None]:
    """Return the class of the problem that each call raised, None for one that succeeded."""
    return [type(outcome) if isinstance(outcome, Problem) else None for outcome in at_once(*calls)]


def one_stands(refusals: Sequence[type[Problem] | None], refusal: type[Problem]) -> bool:
    """Tell whether one call succeeded, and this problem refused each of the others."""
    return refusals.count(None) == 1 and refusals.count(refusal) == len(refusals) - 1


def until_someone_waits() -> None:
    """Return once another connection waits for a lock that this one holds."""

    def waiting() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")
            return int(cursor.fetchone()[0])

    until(waiting, "somebody who waits for the lock")

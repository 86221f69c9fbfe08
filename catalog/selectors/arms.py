"""Several queries in one statement: each is an arm of a UNION ALL and labels its rows."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db import connection


class Arm(NamedTuple):
    """A question: a SELECT of the seven columns of `Answer` after the arm's name, and its parameters."""

    sql: str
    params: Sequence[Any] = ()


class Answer(NamedTuple):
    """A row of any arm; what an arm has no use for is NULL. The first arm of a statement gives the columns their types."""

    id: uuid.UUID | None
    words: str
    tier: str
    amount: int | None
    first: int
    second: int


Answers = defaultdict[str, list[Answer]]


def figure(name: str, sql: str, params: Sequence[Any] = ()) -> Arm:
    """Return an arm of one number, made by a SELECT of it in parentheses."""
    return Arm(f"SELECT '{name}', NULL, NULL, NULL, {sql}, NULL, NULL", params)


def ask(arms: Iterable[Arm], *, begin: Arm | None = None) -> Answers:
    """Return the answers to each arm by its name.

    Args:
        arms: Their order is not that of the rows. None: nothing is asked.
        begin: What the statement begins with, a WITH.
    """
    asked = list(arms)
    if not asked:
        return defaultdict(list)
    sql = (begin.sql if begin else "") + " UNION ALL ".join(arm.sql for arm in asked)
    params = [*(begin.params if begin else ()), *(value for arm in asked for value in arm.params)]
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        rows = cursor.fetchall()
    answers: Answers = defaultdict(list)
    for name, *values in rows:
        answers[name].append(Answer(*values))
    return answers


def parameter(value: Any) -> Any:
    """Return a value as the engine takes it: SQLite has ids as text."""
    return value.hex if connection.vendor == "sqlite" and isinstance(value, uuid.UUID) else value


def identifier(value: Any) -> uuid.UUID:
    """Return an id that the engine gave."""
    return value if isinstance(value, uuid.UUID) else uuid.UUID(value)

"""Declares tasks, with their retry policy."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import ParamSpec, TypeVar

from django_tasks import task
from django_tasks.base import Task

P = ParamSpec("P")
T = TypeVar("T")

# Queues have threads of their own, so that slow receivers and long commands never hold up mails.
DEFAULT, WEBHOOKS, SCHEDULE = "default", "webhooks", "schedule"
QUEUES = (DEFAULT, WEBHOOKS, SCHEDULE)
# A job that failed lets fresh ones go first.
RETRY_PRIORITY = -10


@dataclass(frozen=True)
class Retries:
    """When a failed job is tried again.

    Args:
        attempts: After so many it is dead: it stays, for someone to look at and to start again.
        first: Seconds until the second attempt; they double from then on.
        longest: Seconds that they never exceed.
    """

    attempts: int = 10
    first: float = 5
    longest: float = 3600

    def delay(self, attempt: int) -> timedelta:
        """Return how long to wait after this attempt: jobs that failed together are spread over half of the time."""
        seconds = min(self.longest, self.first * 2 ** min(attempt - 1, 32))
        return timedelta(seconds=seconds * random.uniform(0.5, 1))  # noqa: S311 - it spreads load, it keeps no secret


@dataclass(frozen=True)
class Policy:
    """What a task says of itself.

    Args:
        retries: When it is tried again.
        private: Its arguments are nobody's to read, and are wiped once they are of no use.
        release: Called with the arguments of a job that a stopping worker puts back in the middle.
    """

    retries: Retries = Retries()
    private: bool = False
    release: Callable[..., None] | None = None


_policies: dict[str, Policy] = {}


def job(
    *, queue_name: str = DEFAULT, retries: Retries = Retries(), private: bool = False, release: Callable[..., None] | None = None
) -> Callable[[Callable[P, T]], Task[P, T]]:
    """Make a function of a module a task: `its_name.enqueue(...)`, in the transaction of the change.

    It may run twice, as a worker can be killed between the work and its record: it must do no harm then. Arguments are JSON.
    """

    def decorate(function: Callable[P, T]) -> Task[P, T]:
        made: Task[P, T] = task(queue_name=queue_name)(function)
        _policies[made.module_path] = Policy(retries, private, release)
        return made

    return decorate


def policy_of(task_path: str) -> Policy:
    """Return a task's policy; that of a task which is gone with a release is the default."""
    return _policies.get(task_path, Policy())

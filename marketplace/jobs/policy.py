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

# Each queue has its own threads, so that slow webhook receivers, previews and long commands never delay mails.
DEFAULT, WEBHOOKS, PREVIEWS, SCHEDULE_QUEUE = "default", "webhooks", "previews", "schedule"
QUEUES = (DEFAULT, WEBHOOKS, PREVIEWS, SCHEDULE_QUEUE)
# Jobs of which an attempt failed run after new ones.
RETRY_PRIORITY = -10
# Jobs of which very many can be due at once also run after others.
BULK_PRIORITY = -10


class Interrupted(Exception):
    """Raised by a task that ends because its worker stops: the job returns to the queue, and the attempt does not count."""


@dataclass(frozen=True)
class Retries:
    """The retry policy of a task."""

    # After this many the job has failed for good; it stays in the table and can be restarted.
    attempts: int = 10
    # The delay before the second attempt, which doubles with each attempt up to the longest one.
    first_seconds: float = 5
    longest_seconds: float = 3600

    def delay(self, attempt: int) -> timedelta:
        """Return the delay after this attempt, shortened at random by up to half, so that jobs that failed together are spread."""
        seconds = min(self.longest_seconds, self.first_seconds * 2 ** min(attempt - 1, 32))
        return timedelta(seconds=seconds * random.uniform(0.5, 1))  # noqa: S311 - it spreads load, it keeps no secret


@dataclass(frozen=True)
class Policy:
    """The settings of a task."""

    retries: Retries = Retries()
    # Whether the arguments are hidden, and wiped once the job has succeeded.
    private: bool = False
    # Called with the arguments of a job that a stopping worker returns to the queue unfinished.
    release: Callable[..., None] | None = None


_policies: dict[str, Policy] = {}


def job(
    *, queue_name: str = DEFAULT, retries: Retries = Retries(), private: bool = False, release: Callable[..., None] | None = None
) -> Callable[[Callable[P, T]], Task[P, T]]:
    """Make a module-level function a task, which `function.enqueue(...)` adds to the queue in the current transaction.

    It must be idempotent, because a worker can be killed between the work and its record. Arguments are JSON.
    """

    def decorate(function: Callable[P, T]) -> Task[P, T]:
        declared: Task[P, T] = task(queue_name=queue_name)(function)
        _policies[declared.module_path] = Policy(retries, private=private, release=release)
        return declared

    return decorate


def policy_of(task_path: str) -> Policy:
    """Return a task's policy; the default for a task that no longer exists."""
    return _policies.get(task_path, Policy())

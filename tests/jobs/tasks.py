"""Tasks of the tests; workers in processes of their own find them by name."""

import os
import time
from pathlib import Path

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import DependencyUnavailable
from marketplace.jobs.policy import Retries, job
from tests.waiting import until


@job(retries=Retries(attempts=3, first_seconds=8_000, longest_seconds=10_000))
def fail(words: str) -> None:
    """Fail, with words that nobody may read."""
    raise ValueError(words)


@job()
def refuse() -> None:
    """Fail with a sentence of ours."""
    raise DependencyUnavailable("The store does not answer.")


@job(private=True)
def keep_quiet(secret: str) -> None:
    """Do nothing with a secret."""


@job()
def deactivate(user: str) -> None:
    """Say in the audit log that a user was deactivated."""
    audit.record("user.deactivate", User.objects.get(pk=user), actor=None, reason="Test")


@job()
def leave() -> None:
    """Try to end the worker."""
    raise SystemExit(3)


@job()
def note(path: str, words: str, seconds: float = 0, go: str = "") -> None:
    """Add a line to a file at the beginning, and another after a while, or once there is a file to go on."""
    with Path(path).open("a") as file:
        file.write(f"{words} begun by {os.getpid()}\n")
        file.flush()
        until(lambda: not go or Path(go).exists(), "leave to go on")
        time.sleep(seconds)
        file.write(f"{words} done\n")

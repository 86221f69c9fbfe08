"""Runs the commands of `settings.SCHEDULE`, each once in its interval, however many workers there are.

Each runs as a process of its own: it may take hours and much memory, and ends with the worker.
"""

import os
import shlex
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.core.management.base import CommandError
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django_tasks.base import TaskResultStatus

from .models import Job, Schedule
from .policy import SCHEDULE as QUEUE
from .policy import Retries, job

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
RETRIES = Retries(attempts=3, first=60, longest=600)
LONGEST = timedelta(hours=12)
WORDS = 2000

# Set when the process stops: what runs is ended, and run again by the next worker.
interrupted = threading.Event()


@dataclass(frozen=True)
class Entry:
    """One line of the schedule.

    Args:
        command: As after `manage.py`.
        every: The interval.
        after: How long after its beginning; intervals of a day begin at midnight, UTC.
    """

    command: str
    every: timedelta
    after: timedelta = timedelta()

    def due_at(self, now: datetime) -> datetime:
        """Return when it was last due."""
        return now - (now - EPOCH - self.after) % self.every


def entries() -> Iterator[Entry]:
    """Yield what the settings schedule."""
    return (Entry(*line) for line in settings.SCHEDULE)


def enqueue_due() -> int:
    """Enqueue what is due and was not enqueued yet; return how many.

    What is new on the schedule waits for its next time; what was missed while no worker ran is done once. So is what was done
    later than now: a clock ran ahead and was put right, and nothing would be done until that time has come.
    """
    rows = list(Schedule.objects.annotate(now=Now()).values_list("command", "due_at", "now"))
    # By the database's clock: those of the nodes differ.
    now = rows[0][2] if rows else timezone.now()
    due = {entry.command: entry.due_at(now) for entry in entries()}
    known = {command: done for command, done, _ in rows}
    new = [Schedule(command=command, due_at=at) for command, at in due.items() if command not in known]
    if new:
        Schedule.objects.bulk_create(new, ignore_conflicts=True)
    return sum(_enqueue_once(command, at) for command, at in due.items() if command in known and not at <= known[command] <= now)


def _enqueue_once(command: str, at: datetime) -> bool:
    with transaction.atomic():
        waits = Q(due_at__lt=at) | Q(due_at__gt=Now())
        row = Schedule.objects.select_for_update(skip_locked=True).filter(waits, command=command).first()
        if row is None:
            return False
        row.due_at = at
        busy = (
            row.job_id is not None
            and Job.objects.filter(pk=row.job_id, status__in=[TaskResultStatus.READY, TaskResultStatus.RUNNING]).exists()
        )
        if not busy:
            row.job_id = uuid.UUID(run_command.enqueue(command).id)
        row.save(update_fields=["due_at", "job_id"])
        return not busy


@job(queue_name=QUEUE, retries=RETRIES)
def run_command(command: str) -> None:
    """Run a command of the schedule.

    Raises:
        CommandError: it ended with another status than 0, took too long, or the worker stops; with its last words.
    """
    line = [sys.executable, "-m", "django", *shlex.split(command)]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE, "PYTHONPATH": str(settings.BASE_DIR)}
    with subprocess.Popen(  # noqa: S603 - our own commands, from the settings
        line,
        cwd=settings.BASE_DIR,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        words = _last_words(process)
    if process.returncode:
        raise CommandError(f"{command} ended with status {process.returncode}: {words[-WORDS:]}")


def _last_words(process: "subprocess.Popen[str]") -> str:
    """Return what the process printed until it ended, or was ended."""
    until = timezone.now() + LONGEST
    while True:
        try:
            return process.communicate(timeout=1)[0]
        except subprocess.TimeoutExpired:
            if interrupted.is_set() or timezone.now() > until:
                process.terminate()

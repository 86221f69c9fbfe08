"""Runs the commands of `settings.SCHEDULE`, each once per interval, however many workers there are.

Each runs in its own process, because it may take hours and much memory; a worker that stops ends the process. One that runs several
times a minute runs in the worker, because starting a process takes seconds.
"""

import io
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
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django_tasks.base import TaskResultStatus

from .models import Job, Schedule
from .policy import SCHEDULE_QUEUE, Interrupted, Retries, job

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
RETRIES = Retries(attempts=3, first_seconds=60, longest_seconds=600)
MAX_RUNTIME = timedelta(hours=12)
# A command that has not ended this many seconds after SIGTERM is killed. A worker in a server waits longer, for `in_server.GRACE_SECONDS`.
TERMINATION_SECONDS = 2
OUTPUT_CHARS = 2000
# Commands with a shorter interval run in the worker.
SHORT_INTERVAL = timedelta(minutes=1)

# Set when the process stops: running commands are terminated, and run again by the next worker.
interrupted = threading.Event()


@dataclass(frozen=True)
class ScheduledCommand:
    """One line of the schedule."""

    # With its arguments, without `manage.py`.
    command: str
    every: timedelta
    # From the interval's beginning; daily intervals begin at midnight UTC.
    offset: timedelta = timedelta()

    def last_due_at(self, now: datetime) -> datetime:
        """Return when the command was last due."""
        return now - (now - EPOCH - self.offset) % self.every


def scheduled_commands() -> Iterator[ScheduledCommand]:
    """Yield the lines of `settings.SCHEDULE`."""
    return (ScheduledCommand(*line) for line in settings.SCHEDULE)


def enqueue_due_commands() -> int:
    """Enqueue the commands that are due and not enqueued yet; return their number.

    A new entry waits for its next time; a command missed while no worker ran is run once. So is one recorded as run
    in the future, after a clock was set back; otherwise it would not run until that time.
    """
    rows = list(Schedule.objects.annotate(now=Now()).values_list("command", "last_due_at", "now"))
    # By the database's clock, because the clocks of the nodes differ.
    now = rows[0][2] if rows else timezone.now()
    due = {entry: entry.last_due_at(now) for entry in scheduled_commands()}
    known = {command: last_due_at for command, last_due_at, _ in rows}
    new = [Schedule(command=entry.command, last_due_at=at) for entry, at in due.items() if entry.command not in known]
    Schedule.objects.bulk_create(new, ignore_conflicts=True)
    return sum(
        _enqueue_once(entry, at)
        for entry, at in due.items()
        if entry.command in known and (known[entry.command] < at or known[entry.command] > now)
    )


def overdue_commands(grace: timedelta) -> list[str]:
    """Return the commands that were due at least this long ago and have since been neither enqueued nor found waiting or running."""
    known = dict(Schedule.objects.values_list("command", "last_due_at"))
    before = timezone.now() - grace
    return [entry.command for entry in scheduled_commands() if known.get(entry.command, EPOCH) < entry.last_due_at(before)]


def _enqueue_once(entry: ScheduledCommand, at: datetime) -> bool:
    with transaction.atomic():
        is_due = Q(last_due_at__lt=at) | Q(last_due_at__gt=Now())
        row = Schedule.objects.select_for_update(skip_locked=True).filter(is_due, command=entry.command).first()
        if row is None:
            return False
        row.last_due_at = at
        last = None if row.job_id is None else Job.objects.filter(pk=row.job_id).first()
        busy = last is not None and last.status in {TaskResultStatus.READY, TaskResultStatus.RUNNING}
        if not busy:
            task = run_short_command if entry.every < SHORT_INTERVAL else run_command
            if last is not None and last.status == TaskResultStatus.FAILED:
                # A command that fails every time, twice a minute perhaps, leaves only its newest failed job.
                failed = Job.objects.filter(status=last.status, task_path=task.module_path, args_kwargs__args=[entry.command])
                failed.exclude(pk=last.pk).delete()
            row.job_id = uuid.UUID(task.enqueue(entry.command).id)
        row.save(update_fields=["last_due_at", "job_id"])
        return not busy


@job(retries=RETRIES)
def run_short_command(command: str) -> None:
    """Run a scheduled command in this process."""
    call_command(*shlex.split(command), stdout=io.StringIO())


@job(queue_name=SCHEDULE_QUEUE, retries=RETRIES)
def run_command(command: str) -> None:
    """Run a scheduled command.

    Raises:
        CommandError: its exit status is not 0, or it took too long; with the end of its output.
        Interrupted: the worker stops.
    """
    arguments = [sys.executable, "-m", "django", *shlex.split(command)]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": settings.SETTINGS_MODULE, "PYTHONPATH": str(settings.BASE_DIR)}
    # A worker in a server has it: see `marketplace.wsgi`.
    environment.pop("PROMETHEUS_MULTIPROC_DIR", None)
    with subprocess.Popen(  # noqa: S603 - our own commands, from the settings
        arguments,
        cwd=settings.BASE_DIR,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        output = _wait_for_output(process)
    if process.returncode and interrupted.is_set():
        raise Interrupted
    if process.returncode:
        raise CommandError(f"{command} ended with status {process.returncode}: {output[-OUTPUT_CHARS:]}")


def _wait_for_output(process: "subprocess.Popen[str]") -> str:
    """Return the output of the process once it has ended, or was terminated or killed."""
    until, terminations = timezone.now() + MAX_RUNTIME, 0
    while True:
        try:
            return process.communicate(timeout=1)[0]
        except subprocess.TimeoutExpired:
            if not interrupted.is_set() and timezone.now() <= until:
                continue
        # Each round takes a second.
        if terminations < TERMINATION_SECONDS:
            process.terminate()
            terminations += 1
        else:
            process.kill()

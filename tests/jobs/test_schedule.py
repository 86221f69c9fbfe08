"""The clock: each command once in its interval, however many look at it."""

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands
from django.core.management.base import CommandError
from django.utils import timezone

from marketplace.core.errors import InvalidTransition
from marketplace.jobs import in_server, schedule
from marketplace.jobs.models import Job, Schedule
from marketplace.jobs.queue import claim_job, record_outcome, retry_job, run_job
from marketplace.jobs.schedule import ScheduledCommand, enqueue_due_commands, run_command, scheduled_commands
from tests.factories import UserFactory

HOUR = timedelta(hours=1)


@pytest.fixture
def hourly(settings: Any) -> str:
    settings.SCHEDULE = (("help", HOUR, timedelta(minutes=5)),)
    return "help"


def enqueued_after(wait: timedelta) -> int:
    Schedule.objects.update(last_due_at=timezone.now() - wait)
    return enqueue_due_commands()


def test_every_scheduled_command_is_there_and_differs_from_the_others() -> None:
    commands = [entry.command for entry in scheduled_commands()]
    assert len(set(commands)) == len(commands)
    assert {command.split()[0] for command in commands} <= set(get_commands())


@pytest.mark.parametrize(("hour", "minute", "due"), [(10, 4, (9, 5)), (10, 5, (10, 5)), (10, 59, (10, 5))], ids=["before", "at", "after"])
def test_command_is_due_once_in_its_interval(hour: int, minute: int, due: tuple[int, int]) -> None:
    entry = ScheduledCommand("help", HOUR, timedelta(minutes=5))
    assert entry.last_due_at(datetime(2026, 11, 21, hour, minute, 30, tzinfo=UTC)) == datetime(2026, 11, 21, *due, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.database_full
def test_new_command_waits_for_its_next_time_and_a_missed_one_is_done_once(hourly: str) -> None:
    assert enqueue_due_commands() == 0
    assert [enqueued_after(30 * HOUR), enqueue_due_commands()] == [1, 0]
    [job] = Job.objects.all()
    assert (job.queue_name, job.args_kwargs["args"]) == ("schedule", ["help"])


@pytest.mark.django_db
@pytest.mark.database_full
def test_command_that_still_runs_is_not_begun_again(hourly: str) -> None:
    enqueue_due_commands()
    for _ in range(2):
        enqueued_after(2 * HOUR)
    assert Job.objects.count() == 1
    Job.objects.update(status="SUCCESSFUL")
    assert enqueued_after(2 * HOUR) == 1


@pytest.mark.django_db
@pytest.mark.database_full
def test_command_that_fails_every_time_leaves_only_its_newest_failed_job(hourly: str) -> None:
    of_another = Job.objects.get(pk=run_command.enqueue("purge").id)
    enqueue_due_commands()
    for _ in range(3):
        assert enqueued_after(2 * HOUR) == 1
        Job.objects.filter(status="READY").update(status="FAILED", finished_at=timezone.now())
    newest = Schedule.objects.get().job_id
    enqueued_after(2 * HOUR)
    assert {job.pk for job in Job.objects.filter(status="FAILED")} == {of_another.pk, newest}


@pytest.mark.django_db
@pytest.mark.database_full
def test_earlier_run_of_a_command_is_not_started_beside_the_newest_which_is(hourly: str) -> None:
    enqueue_due_commands()
    for _ in range(2):
        enqueued_after(2 * HOUR)
        Job.objects.filter(status="READY").update(status="FAILED", finished_at=timezone.now())
    jobs: Any = Job.objects.all()
    newest = jobs.get(pk=Schedule.objects.get().job_id)
    earlier = jobs.exclude(pk=newest.pk).get()
    with pytest.raises(InvalidTransition):
        retry_job(job=earlier, actor=UserFactory())
    retry_job(job=newest, actor=UserFactory())
    assert enqueued_after(2 * HOUR) == 0
    assert {job.pk: job.status for job in jobs.all()} == {earlier.pk: "FAILED", newest.pk: "READY"}


@pytest.mark.django_db
@pytest.mark.database_full
def test_command_goes_on_after_a_clock_that_ran_ahead_was_put_right(hourly: str) -> None:
    enqueue_due_commands()
    # At once, and then by the right clock: not a year later.
    assert [enqueued_after(-timedelta(days=365)), enqueue_due_commands()] == [1, 0]
    assert Schedule.objects.get().last_due_at <= timezone.now()


@pytest.mark.django_db
@pytest.mark.database_full
def test_node_with_a_wrong_clock_enqueues_no_scheduled_command(hourly: str, monkeypatch: pytest.MonkeyPatch) -> None:
    enqueue_due_commands()
    for hours in (2, -2):
        monkeypatch.setattr("django.utils.timezone.now", lambda hours=hours: datetime.now(tz=UTC) + hours * HOUR)
        assert enqueue_due_commands() == 0


@pytest.mark.slow
def test_failed_scheduled_command_reports_its_last_output(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match=r"no_such_command ended with status 1: .*Unknown command"):
        run_command.call("no_such_command")
    # Another starts in no time.
    monkeypatch.setattr(sys, "executable", "/bin/true")
    run_command.call("purge")


@pytest.mark.slow
def test_scheduled_command_of_a_worker_in_a_server_leaves_no_figures_that_every_scrape_would_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    run_command.call("check")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.django_db
@pytest.mark.slow
def test_scheduled_command_is_terminated_with_its_worker_which_is_logged_but_no_attempt(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(schedule.interrupted, "is_set", lambda: True)
    # It would wait for a line from the keyboard, or serve for ever.
    run_command.enqueue("runserver --noreload 127.0.0.1:0")
    job = claim_job(queue_names=["schedule"], worker_id="stops")
    assert job is not None
    record_outcome(job, run_job(job))
    job.refresh_from_db()
    assert (job.status, job.attempts, job.run_after <= timezone.now()) == ("READY", 0, True)
    assert f"Job {job.pk} (marketplace.jobs.schedule.run_command) was interrupted" in caplog.text


@pytest.mark.slow
def test_command_that_ignores_its_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule.interrupted, "is_set", lambda: True)
    assert schedule.TERMINATION_SECONDS < in_server.GRACE_SECONDS
    monkeypatch.setattr(schedule, "TERMINATION_SECONDS", 1)
    # A child inherits which signals are ignored.
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        process = subprocess.Popen(["/bin/sleep", "30"], stdout=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGTERM, before)
    with process:
        schedule._wait_for_output(process)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.django_db
def test_command_of_a_short_interval_runs_in_the_worker_beside_long_ones(settings: Any) -> None:
    settings.SCHEDULE = (("check_nothing", timedelta(seconds=30), timedelta()),)
    enqueue_due_commands()
    assert enqueued_after(HOUR) == 1
    job = Job.objects.get()
    assert (job.queue_name, job.args_kwargs["args"]) == ("default", ["check_nothing"])

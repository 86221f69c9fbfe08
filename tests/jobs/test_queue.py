"""What becomes of a job: done, tried again, failed, lost with its worker."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from marketplace.core.errors import DependencyUnavailable, InvalidTransition
from marketplace.core.models import AuditEntry
from marketplace.jobs.models import Job, Worker
from marketplace.jobs.policy import QUEUES, Retries
from marketplace.jobs.queue import claim_job, record_outcome, recover_lost_jobs, release_job, retry_job, run_job, waiting_queues
from tests.eager import drain
from tests.factories import UserFactory
from vendors.jobs import make_previews

from . import tasks

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def claim(worker: str = "one") -> Job:
    job = claim_job(queue_names=QUEUES, worker_id=worker)
    assert job is not None
    return job


def queued(task: Any, *args: Any) -> Job:
    return Job.objects.get(pk=task.enqueue(*args).db_result.pk)


def test_failed_job_is_retried_after_its_delay_and_then_fails_for_good(caplog: pytest.LogCaptureFixture) -> None:
    job = queued(tasks.fail, "hunter2")
    for _ in range(2):
        [job] = drain()
        assert (job.status, job.exception_class_path) == ("READY", "builtins.ValueError")
        assert drain() == []
        Job.objects.update(run_after=timezone.now())
    with caplog.at_level(logging.ERROR):
        [job] = drain()
    assert (job.status, job.attempts) == ("FAILED", 3)
    assert "failed for good after 3 attempts: builtins.ValueError" in caplog.text
    assert "hunter2" not in caplog.text + job.traceback
    assert "in fail" in job.traceback
    Job.objects.update(run_after=timezone.now())
    assert drain() == []


def test_message_of_a_problem_is_kept_with_the_failed_job_without_characters_that_databases_refuse() -> None:
    queued(tasks.refuse)
    record_outcome(claim(), DependencyUnavailable("No \x00 answer \udc80."))
    assert Job.objects.get().traceback == "No ? answer ?."


def test_delays_of_retries_are_randomised_and_limited() -> None:
    retries = Retries(attempts=9, first_seconds=5, longest_seconds=60)
    for attempt, most in ((1, 5), (2, 10), (4, 40), (5, 60), (500, 60)):
        delays = {retries.delay(attempt).total_seconds() for _ in range(50)}
        assert len(delays) > 1
        assert most / 2 <= min(delays) <= max(delays) <= most


def test_retried_job_runs_after_new_jobs() -> None:
    old = queued(tasks.fail, "")
    drain()
    Job.objects.update(run_after=timezone.now())
    fresh = queued(tasks.keep_quiet, "")
    assert [claim().pk, claim().pk] == [fresh.pk, old.pk]


def test_arguments_of_a_private_task_are_hidden_and_wiped() -> None:
    job = queued(tasks.keep_quiet, "hunter2")
    assert "hunter2" not in job.arguments
    [job] = drain()
    assert job.status == "SUCCESSFUL"
    assert "hunter2" not in str(job.args_kwargs)
    assert queued(tasks.fail, "seen").arguments == "seen"


def test_job_of_an_unknown_task_fails_and_the_next_job_runs() -> None:
    job = queued(tasks.keep_quiet, "")
    Job.objects.filter(pk=job.pk).update(task_path="tests.jobs.tasks.gone", priority=1)
    queued(tasks.keep_quiet, "")
    assert [done.status for done in drain()] == ["READY", "SUCCESSFUL"]


def test_system_exit_in_a_task_fails_the_job_and_not_the_worker() -> None:
    queued(tasks.leave)
    assert [job.exception_class_path for job in drain()] == ["builtins.SystemExit"]


def test_job_is_claimed_once_by_a_worker_of_its_queue() -> None:
    queued(tasks.refuse)
    assert waiting_queues(QUEUES) == {"default"}
    assert claim_job(queue_names=["webhooks"], worker_id="zero") is None
    assert claim("one").worker_ids == ["one"]
    assert claim_job(queue_names=QUEUES, worker_id="two") is None
    assert waiting_queues(QUEUES) == set()


def test_mail_job_is_claimed_before_waiting_preview_jobs() -> None:
    queued(make_previews, "0192f0c1-0000-7000-8000-000000000000")
    mail = queued(tasks.keep_quiet, "")
    claimed = [claim_job(queue_names=[mail.queue_name], worker_id="one") for _ in range(2)]
    assert claimed == [mail, None]


def test_job_of_a_silent_worker_goes_to_another_and_counts_as_an_attempt() -> None:
    alive = Worker.objects.create(id="alive", host="a", pid=1, seen_at=Now())
    Worker.objects.create(id="silent", host="b", pid=2, seen_at=Now() - timedelta(seconds=61))
    for _ in range(3):
        queued(tasks.keep_quiet, "")
    mine, silents, strangers = claim(alive.pk), claim("silent"), claim("never seen")
    assert recover_lost_jobs() == 2
    assert {job.pk for job in Job.objects.filter(status="READY")} == {silents.pk, strangers.pk}
    assert Job.objects.get(pk=mine.pk).status == "RUNNING"
    assert Job.objects.get(pk=silents.pk).attempts == 1
    assert recover_lost_jobs() == 0


def test_job_that_kills_its_workers_fails_for_good_at_last() -> None:
    queued(tasks.fail, "")
    for _ in range(3):
        claim("killed")
        recover_lost_jobs()
        Job.objects.update(run_after=timezone.now())
    assert [(job.status, job.exception_class_path) for job in Job.objects.all()] == [("FAILED", "WorkerLost")]


def test_worker_taken_for_dead_cannot_record_the_outcome_of_its_job() -> None:
    queued(tasks.keep_quiet, "")
    slow = claim("slow")
    recover_lost_jobs()
    Job.objects.update(run_after=timezone.now())
    claim("slow")
    assert not record_outcome(slow, run_job(slow))
    assert Job.objects.get(pk=slow.pk).status == "RUNNING"


def test_job_that_a_stopping_worker_puts_back_is_ready_at_once_with_all_its_attempts() -> None:
    queued(tasks.keep_quiet, "")
    release_job(claim())
    assert claim("two").attempts == 1


def test_retried_failed_job_has_all_its_attempts_again() -> None:
    admin = UserFactory()
    job = queued(tasks.fail, "")
    with pytest.raises(InvalidTransition):
        retry_job(job=job, actor=admin)
    for _ in range(3):
        drain()
        Job.objects.update(run_after=timezone.now())
    retry_job(job=job, actor=admin)
    entry = AuditEntry.objects.get(action="job.retry")
    assert (entry.actor, entry.data["attempts"]) == (admin, 3)
    [job] = drain()
    assert (job.status, job.attempts) == ("READY", 1)


def test_audit_entries_of_a_job_have_its_name_as_request_id() -> None:
    job = queued(tasks.deactivate, str(UserFactory().pk))
    drain()
    assert AuditEntry.objects.get().request_id == f"job-{job.pk}"

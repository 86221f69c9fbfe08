"""Claims jobs from the queue's table and records their outcome."""

import logging
import traceback
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, cast

from django.core.management.base import CommandError
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django_tasks.base import TaskResultStatus

from marketplace.core import audit
from marketplace.core.errors import InvalidTransition, Problem
from marketplace.core.ids import use_request_id
from marketplace.core.transitions import lock

from .models import Job, Schedule, Worker
from .policy import RETRY_PRIORITY, Interrupted, policy_of

# A worker that has not reported for this long counts as lost.
LOST_AFTER = timedelta(seconds=60)
MAX_SCANNED = 500
WIPED: dict[str, Any] = {"args": [], "kwargs": {}}

logger = logging.getLogger(__name__)


def waiting_queues(queue_names: Sequence[str]) -> Collection[str]:
    """Return the queues with ready jobs, by one query without a lock; all queues if very many jobs wait."""
    names = list(Job.objects.ready().filter(queue_name__in=queue_names).order_by().values_list("queue_name", flat=True)[:MAX_SCANNED])
    return queue_names if len(names) == MAX_SCANNED else set(names)


def claim_job(*, queue_names: Collection[str], worker_id: str) -> Job | None:
    """Claim the first ready job; no other worker takes it as long as this one is alive."""
    with transaction.atomic():
        job = Job.objects.ready().filter(queue_name__in=queue_names).get_locked()
        if job is not None:
            job.claim(worker_id)
        # The library's manager declares a less precise type.
        return cast("Job | None", job)


def run_job(job: Job) -> Exception | SystemExit | None:
    """Run a claimed job; return the exception if it failed."""
    with use_request_id(f"job-{job.pk}"):
        try:
            given = job.args_kwargs
            job.task.call(*given["args"], **given["kwargs"])
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a task raises is a failed attempt, and its worker goes on
            return error
        return None


def record_outcome(job: Job, error: BaseException | None) -> bool:
    """Record the outcome of a job; return False if its worker was declared lost in the meantime."""
    if isinstance(error, Interrupted):
        # It never fails for good: of a command that takes longer than its workers live, only the log tells.
        logger.warning("Job %s (%s) was interrupted because its worker stops; the next one runs it again", job.pk, job.task_path)
        return release_job(job)
    if error is not None:
        return _fail(job, f"{type(error).__module__}.{type(error).__qualname__}", _format_error(error))
    changes: dict[str, Any] = {
        "status": TaskResultStatus.SUCCESSFUL,
        "finished_at": timezone.now(),
        "exception_class_path": "",
        "traceback": "",
    }
    if policy_of(job.task_path).private:
        changes["args_kwargs"] = WIPED
    return _update_if_running(job, **changes)


def release_job(job: Job) -> bool:
    """Return an unfinished job of a stopping worker to the queue, with as many attempts as before; return False if it is not this worker's any more."""
    attempts_before = job.worker_ids[:-1]
    if not _update_if_running(job, status=TaskResultStatus.READY, run_after=timezone.now(), worker_ids=attempts_before):
        return False
    release = policy_of(job.task_path).release
    if release is not None:
        given = job.args_kwargs
        release(*given["args"], **given["kwargs"])
    return True


def recover_lost_jobs() -> int:
    """Return the jobs of lost workers to the queue; return their number."""
    running = cast("list[Job]", list(Job.objects.running()))
    alive = set(Worker.objects.filter(seen_at__gt=Now() - LOST_AFTER).values_list("pk", flat=True)) if running else set()
    lost = [job for job in running if job.worker_ids[-1] not in alive]
    return sum(_fail(job, "WorkerLost", "The worker was killed, or lost its connection to the database.") for job in lost)


@transaction.atomic
def retry_job(*, job: Job, actor: Any) -> Job:
    """Restart a failed job with its full number of attempts.

    Raises:
        InvalidTransition: it has not failed, or is an earlier run of a scheduled command, which would run beside the newest one.
    """
    # Locked before the job, as by `enqueue_due_commands`.
    schedule = Schedule.objects.select_for_update().filter(command=job.arguments).first()
    if schedule is not None and schedule.job_id != job.pk:
        raise InvalidTransition(
            "This is an earlier run of a scheduled command. Start its last job again, which the schedule names, if that has failed."
        )
    job = lock(cast("QuerySet[Job]", Job.objects.all()), pk=job.pk)
    if job.status != TaskResultStatus.FAILED:
        raise InvalidTransition("Only failed jobs can be started again.", currentState=job.status)
    audit.record("job.retry", job, actor=actor, from_state="failed", to_state="ready", task=job.task_path, attempts=job.attempts)
    job.status, job.worker_ids, job.run_after, job.finished_at = TaskResultStatus.READY, [], timezone.now(), None
    job.save(update_fields=["status", "worker_ids", "run_after", "finished_at"])
    return job


def _fail(job: Job, error_path: str, details: str) -> bool:
    policy = policy_of(job.task_path)
    changes: dict[str, Any] = {"exception_class_path": error_path, "traceback": details}
    # The error's message may contain addresses and secrets, so it is not logged.
    name = f"Job {job.pk} ({job.task_path})"
    if job.attempts >= policy.retries.attempts:
        logger.error("%s failed for good after %d attempts: %s", name, job.attempts, error_path)
        return _update_if_running(job, status=TaskResultStatus.FAILED, finished_at=timezone.now(), **changes)
    delay = policy.retries.delay(job.attempts)
    logger.warning("%s failed at attempt %d: %s. Next attempt in %d s", name, job.attempts, error_path, delay.total_seconds())
    run_after = timezone.now() + delay
    return _update_if_running(job, status=TaskResultStatus.READY, run_after=run_after, priority=RETRY_PRIORITY, **changes)


def _update_if_running(job: Job, **changes: Any) -> bool:
    """Update the job if this attempt still runs; attempts are told apart by their start time."""
    mine = Job.objects.filter(pk=job.pk, status=TaskResultStatus.RUNNING, started_at=job.started_at)
    return bool(mine.update(**changes))


def _format_error(error: BaseException) -> str:
    """Return the traceback in characters that every database accepts; with the message only if it is our own."""
    where = "".join(traceback.format_tb(error.__traceback__)[-10:])
    message = str(error) if isinstance(error, CommandError | Problem) else ""
    return where + "".join(char if char.isprintable() or char in "\n\t" else "?" for char in message)

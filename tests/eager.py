"""The job queue in tests: each job is a row, and is run by the worker's code as soon as its transaction is committed."""

from functools import partial
from typing import Any, cast

from django.core import mail
from django.core.mail import EmailMessage
from django.db import transaction
from django_tasks_db import DatabaseBackend

from marketplace.core.ids import new_id
from marketplace.jobs.models import Job
from marketplace.jobs.policy import QUEUES
from marketplace.jobs.queue import claim_job, record_outcome, run_job


class EagerBackend(DatabaseBackend):
    """Does a job that is not for later on commit; what fails waits for its next attempt, as ever. Tests of the queue switch it off."""

    on = True

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> Any:
        """Write the row, and do the job on commit."""
        result: Any = super().enqueue(task, args, kwargs)
        if self.on and task.run_after is None:
            transaction.on_commit(partial(_do, result.id))
        return result


def _do(job_id: str) -> None:
    job = cast("Job | None", Job.objects.filter(pk=job_id, status="READY").first())
    if job is not None:
        job.claim(new_id().hex)
        record_outcome(job, run_job(job))


def drain() -> list[Job]:
    """Do what is ready, in the calling thread; return the jobs as they stand then."""
    done: list[Job] = []
    while job := claim_job(queue_names=QUEUES, worker_id=new_id().hex):
        record_outcome(job, run_job(job))
        done.append(Job.objects.get(pk=job.pk))
    return done


def sent_mails() -> list[EmailMessage]:
    """Do what is ready, and return the mails that went out."""
    drain()
    outbox: list[EmailMessage] = getattr(mail, "outbox", [])
    return outbox

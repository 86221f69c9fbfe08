"""Workers, the schedule, and a proxy of the queue's table."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django_tasks_db.models import DBTaskResult

from .policy import policy_of

if TYPE_CHECKING:
    Row = DBTaskResult[Any, Any]
else:
    Row = DBTaskResult


class Job(Row):
    """A row of the queue. A failed job has used all the attempts of its task."""

    class Meta:
        proxy = True
        default_permissions = ("view",)
        permissions = (("retry_job", "Can restart failed jobs"),)

    def __str__(self) -> str:
        return f"{self.task_path} {self.pk}"

    @property
    def attempts(self) -> int:
        """The number of times the job was started, without those that a stopping worker ended."""
        return len(self.worker_ids)

    @property
    def arguments(self) -> str:
        """The job's arguments as text; `(private)` for private tasks."""
        if policy_of(self.task_path).private:
            return "(private)"
        given = self.args_kwargs
        return ", ".join([*map(str, given["args"]), *(f"{name}={value}" for name, value in given["kwargs"].items())])


class Worker(models.Model):
    """A process that runs jobs. When it stops reporting, other workers take its jobs."""

    id = models.CharField(max_length=32, primary_key=True)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField(auto_now_add=True)
    # By the database's clock, because the clocks of the nodes differ.
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ("-seen_at",)
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"{self.host} {self.pid}"


class Schedule(models.Model):
    """The last due time of a scheduled command, so that it runs once per interval, however many workers check."""

    command = models.CharField(max_length=200, primary_key=True)
    last_due_at = models.DateTimeField()
    job_id = models.UUIDField(null=True)

    class Meta:
        ordering = ("command",)
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.command

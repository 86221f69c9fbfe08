"""The job queue in the admin: waiting, running and failed jobs; failed ones can be started again."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import get_date_max

from marketplace.review.decisions import Decision, DecisionForm, service_decision
from marketplace.review.service import ServiceAdmin
from marketplace.ui.formatting import when

from . import queue
from .models import Job, Schedule, Worker


@admin.register(Job)
class JobAdmin(ServiceAdmin):
    """Jobs, newest first; a failed job has used all its attempts."""

    list_display = ("task_path", "status", "queue_name", "enqueued_at", "due", "attempts", "exception_class_path")
    list_filter = ("status", "queue_name", "task_path")
    search_fields = ("task_path", "exception_class_path")
    ordering = ("-enqueued_at",)
    fields = (
        "task_path",
        "status",
        "queue_name",
        "arguments",
        "attempts",
        "enqueued_at",
        "due",
        "started_at",
        "finished_at",
        "exception_class_path",
        "traceback",
    )
    readonly_fields = fields
    decision_names = ("retry",)

    @admin.display(description="Due", ordering="run_after")
    def due(self, job: Job) -> str:
        return "at once" if job.run_after == get_date_max() else when(job.run_after)

    retry = service_decision(
        Decision(
            "Start again",
            "jobs.retry_job",
            "The job waits for a worker again, with its full number of attempts. Jobs that have not failed may run first.",
            "The job is waiting for a worker.",
            form=DecisionForm,
            available=lambda job: job.status == TaskResultStatus.FAILED,
        ),
        queue.retry_job,
        "job",
    )


@admin.register(Worker)
class WorkerAdmin(ServiceAdmin):
    """Workers. One that has not reported for a minute counts as lost, and stays listed for a day."""

    list_display = ("host", "pid", "started_at", "seen_at")


@admin.register(Schedule)
class ScheduleAdmin(ServiceAdmin):
    """The last due time of each scheduled command."""

    list_display = ("command", "last_due_at", "job")
    fields = ("command", "last_due_at", "job")
    readonly_fields = ("job",)

    @admin.display(description="Last job", empty_value="-")
    def job(self, schedule: Schedule) -> str | None:
        address = schedule.job_id and reverse("admin:jobs_job_change", args=[schedule.job_id])
        return format_html('<a href="{}">Open</a>', address) if address else None

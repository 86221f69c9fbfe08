"""`manage.py purge_jobs`: delete finished jobs."""

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone
from django_tasks.base import TaskResultStatus

from marketplace.core.commands import PurgeCommand
from marketplace.jobs.models import Job
from marketplace.jobs.queue import ended_jobs

SUCCESSFUL_KEPT, FAILED_KEPT = timedelta(days=2), timedelta(days=60)


class Command(PurgeCommand):
    """Deletes finished jobs."""

    help = (
        "Remove jobs that were done more than 2 days ago, and dead ones that nobody started again for 60. "
        "The schedule runs it daily. With --dry-run the rows are counted and none is removed."
    )

    def expired(self) -> Mapping[str, QuerySet[Job]]:
        """Return the jobs to delete; failed ones are kept longer, so that someone can look at them."""
        now = timezone.now()
        return {
            "done jobs": ended_jobs(TaskResultStatus.SUCCESSFUL, before=now - SUCCESSFUL_KEPT),
            "dead jobs": ended_jobs(TaskResultStatus.FAILED, before=now - FAILED_KEPT),
        }

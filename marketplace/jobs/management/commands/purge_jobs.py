"""`manage.py purge_jobs`: delete finished jobs."""

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone
from django_tasks.base import TaskResultStatus

from marketplace.jobs.models import Job
from marketplace.jobs.queue import ended_jobs

from ...commands import PurgeCommand

SUCCESSFUL_KEPT, FAILED_KEPT = timedelta(days=2), timedelta(days=60)


class Command(PurgeCommand):
    help = (
        "Delete jobs that finished more than 2 days ago, and failed ones that nobody has restarted for 60 days. The worker runs this "
        "daily. With --dry-run rows are counted, not deleted."
    )

    def expired(self) -> Mapping[str, QuerySet[Job]]:
        # Failed jobs are kept longer, so that someone can look at them.
        now = timezone.now()
        return {
            "done jobs": ended_jobs(TaskResultStatus.SUCCESSFUL, before=now - SUCCESSFUL_KEPT),
            "dead jobs": ended_jobs(TaskResultStatus.FAILED, before=now - FAILED_KEPT),
        }

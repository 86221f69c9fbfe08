"""`manage.py purge_jobs`: remove jobs that are over."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone
from django_tasks.base import TaskResultStatus
from rich.console import Console
from rich.progress import Progress

from marketplace.jobs.models import Job
from marketplace.jobs.queue import ended_jobs

KEPT = {TaskResultStatus.SUCCESSFUL: timedelta(days=2), TaskResultStatus.FAILED: timedelta(days=60)}
STEP = 1000


class Command(BaseCommand):
    """Removes jobs."""

    help = (
        "Remove jobs that were done more than 2 days ago, and dead ones that nobody started again for 60. "
        "The schedule runs it daily. With --dry-run the rows are counted and none is removed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Offer a rehearsal."""
        parser.add_argument("--dry-run", action="store_true", help="count the rows, remove none")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Remove, or count."""
        over = {status: ended_jobs(before=timezone.now() - kept).filter(status=status) for status, kept in KEPT.items()}
        counts = {status: rows.count() for status, rows in over.items()}
        words = f"{counts[TaskResultStatus.SUCCESSFUL]} done and {counts[TaskResultStatus.FAILED]} dead jobs"
        if options["dry_run"]:
            self.stdout.write(f"{words} would be removed.")
            return
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("Jobs", total=sum(counts.values()))
            for rows in over.values():
                while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:STEP]):
                    Job.objects.filter(pk__in=ids).delete()
                    progress.advance(task, len(ids))
        self.stdout.write(f"{words} removed.")

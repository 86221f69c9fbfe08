"""`manage.py sweep_objects`: find stored files that nothing names, and records whose files are gone."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.progress import Progress

from marketplace.core.commands import progress_bar
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.objects import object_store
from marketplace.core.objects.base import ObjectStore
from vendors.services.sweeping import GRACE, find_missing, find_orphans, find_unfinished

MISSING, NOT_DONE = 1, 2
HOUR, LONGEST = timedelta(hours=1), timedelta(days=3650)


class Command(BaseCommand):
    """Sweeps the store of files."""

    help = (
        "List files of listings in the store, older than a day, that no record names, and uploads that were never finished. "
        "Nothing is deleted without --delete. It may run beside uploads and beside itself. "
        "Exit status: 0 in order, 1 a record names a file that is not there (restore it), 2 the store cannot be used."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare whether to delete, and what."""
        parser.add_argument("--delete", action="store_true", help="Delete what no record names. Check the list without it first.")
        parser.add_argument(
            "--hours",
            type=float,
            default=GRACE / HOUR,
            help="Leave alone what is younger (24). Less than the longest upload takes only while nothing is uploaded: "
            "a file is recorded once it is stored whole.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """List or delete, then tell what is missing."""
        if not 0 <= options["hours"] <= LONGEST / HOUR:
            raise CommandError("--hours is a number from 0 to those of ten years.", returncode=NOT_DONE)
        try:
            with progress_bar() as progress:
                missing = self._sweep(object_store(), progress, delete=options["delete"], age=options["hours"] * HOUR)
        except DependencyUnavailable as problem:
            raise CommandError(problem.message, returncode=NOT_DONE) from problem
        if missing:
            raise CommandError(f"{missing} files that records name are not in the store.", returncode=MISSING)

    def _sweep(self, store: ObjectStore, progress: Progress, *, delete: bool, age: timedelta) -> int:
        done = "deleted" if delete else "would be deleted"
        orphans = unfinished = missing = 0
        task = progress.add_task("Files", total=None)
        for key in find_orphans(store, lambda count: progress.advance(task, count), age=age):
            if delete:
                store.delete(key)
            self.stdout.write(f"no record, {done}: {key}")
            orphans += 1
        for part in find_unfinished(store, age=age):
            if delete:
                part.remove()
            self.stdout.write(f"unfinished, {done}: {part.name}")
            unfinished += 1
        task = progress.add_task("Records", total=None)
        for key in find_missing(store, lambda count: progress.advance(task, count)):
            self.stdout.write(f"no file: {key}")
            missing += 1
        self.stdout.write(f"{orphans} files without a record and {unfinished} unfinished uploads {done}; {missing} files are missing.")
        return missing

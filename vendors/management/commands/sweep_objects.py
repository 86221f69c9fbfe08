"""`manage.py sweep_objects`: find stored files that no record refers to, and records whose files are missing."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.progress import Progress

from catalog.models import Deliverable, Preview
from marketplace.core.errors import DependencyUnavailable
from marketplace.storage import default_storage
from marketplace.ui.progress import progress_bar
from vendors.services.sweeping import GRACE, find_missing, find_orphans, find_unfinished

MISSING, NOT_DONE = 1, 2
HOUR, LONGEST = timedelta(hours=1), timedelta(days=3650)


class Command(BaseCommand):
    help = (
        "List stored files older than a day that have no database record (the record of an upload's parts is the upload, until purge "
        "deletes it), and incomplete objects that a killed process left in the file store; with --delete, delete them, unless the database has "
        "neither deliverables nor previews. "
        "The worker deletes what is older than three days, daily. Safe to run beside uploads and in parallel. "
        "Exit status: 0 in order, 1 a record's file is missing (restore it), 2 the file store cannot be used, or an option is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--delete",
            action="store_true",
            help="Delete the files without a record, unless the database has neither deliverables nor previews.",
        )
        parser.add_argument(
            "--hours",
            type=float,
            default=GRACE / HOUR,
            help="Ignore files younger than this (default 24). Use less than your longest upload takes only while nobody uploads: "
            "a file gets its record when it is completely stored.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["hours"] <= LONGEST / HOUR:
            raise CommandError("--hours must be between 0 and 87600 (ten years).", returncode=NOT_DONE)
        try:
            with progress_bar() as progress:
                # A database that is yet to be restored has no records, and every file would be deleted.
                delete = options["delete"] and (Deliverable.objects.exists() or Preview.objects.exists())
                if options["delete"] and not delete:
                    self.stdout.write("Nothing was deleted: the database has neither deliverables nor previews.")
                missing = self._sweep(progress, delete=delete, age=options["hours"] * HOUR)
        except DependencyUnavailable as problem:
            raise CommandError(problem.message, returncode=NOT_DONE) from problem
        if missing:
            raise CommandError(f"{missing} files that have a record are missing from the file store.", returncode=MISSING)

    def _sweep(self, progress: Progress, *, delete: bool, age: timedelta) -> int:
        done = "deleted" if delete else "would be deleted"
        orphans = unfinished = missing = 0
        task = progress.add_task("Files", total=None)
        for key in find_orphans(lambda count: progress.advance(task, count), age=age):
            if delete:
                default_storage.delete(key)
            self.stdout.write(f"no record, {done}: {key}")
            orphans += 1
        for part in find_unfinished(age=age):
            if delete:
                part.remove()
            self.stdout.write(f"unfinished, {done}: {part.name}")
            unfinished += 1
        task = progress.add_task("Records", total=None)
        for key in find_missing(lambda count: progress.advance(task, count)):
            self.stdout.write(f"no file: {key}")
            missing += 1
        self.stdout.write(f"{orphans} files without a record and {unfinished} incomplete objects {done}; {missing} files are missing.")
        return missing

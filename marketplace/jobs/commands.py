"""Helpers for management commands: the progress bar, and the deletion of expired rows."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction
from django.db.models import Model, QuerySet
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from marketplace.core.transitions import lock

BATCH_ROWS = 500
_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Return a progress bar on standard error that disappears when it is done: standard output is for results.

    Args:
        *columns: Columns to show instead of the default ones.
    """
    return Progress(*(columns or _COLUMNS), console=Console(stderr=True), transient=True)


def delete_in_batches(rows: QuerySet[Any], *, lock_model: type[Model]) -> Iterator[int]:
    """Delete rows in short transactions, so that locks are held briefly; yield the number of rows of each batch.

    Concurrent runs alternate batch by batch, because deleting the same rows in different orders would deadlock.

    Args:
        rows: The rows to delete. The queryset is evaluated again for each batch.
        lock_model: Runs that name the same model wait for each other.
    """
    content_type = ContentType.objects.get_for_model(lock_model)
    while True:
        with transaction.atomic():
            lock(ContentType.objects.all(), pk=content_type.pk)
            ids = list(rows.order_by().values_list("pk", flat=True)[:BATCH_ROWS])
            # The condition is applied again: a row changed in the meantime, such as a restarted job, stays.
            rows.filter(pk__in=ids).delete()
        if ids:
            yield len(ids)
        if len(ids) < BATCH_ROWS:
            return


class PurgeCommand(BaseCommand):
    """Base of the commands that delete expired rows; with `--dry-run` the rows are counted only.

    A subclass returns the rows to delete from `expired`, in the order of deletion.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--dry-run`."""
        parser.add_argument("--dry-run", action="store_true", help="count the rows, delete nothing")

    def expired(self) -> Mapping[str, QuerySet[Any]]:
        """Return the expired rows, by the plural noun that the output names them with."""
        raise NotImplementedError

    def handle(self, *_args: Any, **options: Any) -> None:
        """Delete or count the expired rows, and print how many there were."""
        expired = self.expired()
        counts = {name: rows.count() for name, rows in expired.items()}
        if options["dry_run"]:
            self.stdout.write(f"{_listed(counts)} would be deleted.")
            return
        lock_model = next(iter(expired.values())).model
        with progress_bar() as progress:
            for name, rows in expired.items():
                task = progress.add_task(name.capitalize(), total=counts[name])
                counts[name] = 0
                for count in delete_in_batches(rows, lock_model=lock_model):
                    counts[name] += count
                    progress.advance(task, count)
        self.stdout.write(f"{_listed(counts)} deleted.")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())

"""What management commands share: the progress bar, and the removal of rows that have expired."""

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
        *columns: What to show instead of the number of things that are done, of how many, and the times.
    """
    return Progress(*(columns or _COLUMNS), console=Console(stderr=True), transient=True)


def delete_in_batches(rows: QuerySet[Any], *, lock_model: type[Model]) -> Iterator[int]:
    """Delete rows in short transactions, so that nobody waits long for their locks; yield the number of rows of each batch.

    Two runs at once take turns, batch by batch: rows that are deleted in another order than somebody else's would deadlock.

    Args:
        rows: What to delete. The queryset is evaluated again for each batch.
        lock_model: Runs that name the same model wait for each other.
    """
    content_type = ContentType.objects.get_for_model(lock_model)
    while True:
        with transaction.atomic():
            lock(ContentType.objects.all(), pk=content_type.pk)
            ids = list(rows.order_by().values_list("pk", flat=True)[:BATCH_ROWS])
            # With the condition once more: a row that was changed meanwhile, such as a job that was started again, stays.
            rows.filter(pk__in=ids).delete()
        if ids:
            yield len(ids)
        if len(ids) < BATCH_ROWS:
            return


class PurgeCommand(BaseCommand):
    """Base of the commands that delete expired rows; with `--dry-run` the rows are counted only.

    A subclass returns from `expired` what is to be deleted, in the order in which it is deleted.
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

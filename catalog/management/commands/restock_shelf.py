"""manage.py restock_shelf."""

from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from catalog.services.shelf import rebuild


class Command(BaseCommand):
    """Brings what browsing reads in line with the listings."""

    help = (
        "Check every listing for sale against the rows and counts that browsing reads, and write what differs: after rows were changed "
        "past the service, or on a doubt. Safe at any time, and twice at once: changes of the catalog wait for a batch at most."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Check with a progress bar."""
        columns = (TextColumn("Listings"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(file=self.stderr)) as bar:  # type: ignore[arg-type]  # OutputWrapper writes like a file
            task = bar.add_task("listings", total=None)
            listings, counts = rebuild(lambda done, total: bar.update(task, completed=done, total=total))
        self.stdout.write(f"{listings} listings and {counts} counts were wrong and are right now.")

"""manage.py rank_listings."""

from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from catalog.search.ranks import rank
from catalog.services.popularity import count_purchases


class Command(BaseCommand):
    """Brings the tiers of search in line with purchases."""

    help = (
        "Count new purchases, then rank published listings by purchases for search: common words are looked for among the most bought first. Listings that "
        "were published since the last run lose the place in front that new ones have. Only what changed is written. Run it every "
        "hour or every day; at any time, also twice at once: searches go on, and publications wait for a batch at most."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Rank with a progress bar."""
        columns = (TextColumn("Listings"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(file=self.stderr)) as bar:  # type: ignore[arg-type]  # OutputWrapper writes like a file
            counting = bar.add_task("purchases", total=None)
            count_purchases(progress=lambda count, total: bar.update(counting, completed=count, total=total))
            task = bar.add_task("listings", total=None)
            done = rank(lambda count, total: bar.update(task, completed=count, total=total))
        self.stdout.write(f"{done.listings} listings ranked, {done.moved} moved, {done.recounted} with new purchases.")

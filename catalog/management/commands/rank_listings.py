"""manage.py rank_listings."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.search.ranks import rank
from catalog.services.popularity import count_purchases
from marketplace.core.commands import progress_bar


class Command(BaseCommand):
    """Brings the tiers of search in line with purchases."""

    help = (
        "Count new purchases, then rank published listings by purchases for search: common words are looked for among the most bought first. Listings that "
        "were published since the last run lose the place in front that new ones have. Only what changed is written. Run it every "
        "hour or every day; at any time, also twice at once: searches go on, and publications wait for a batch at most."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Rank with a progress bar."""
        with progress_bar() as bar:
            counting = bar.add_task("Purchases", total=None)
            count_purchases(progress=lambda count, total: bar.update(counting, completed=count, total=total))
            task = bar.add_task("Listings", total=None)
            done = rank(lambda count, total: bar.update(task, completed=count, total=total))
        self.stdout.write(f"{done.listings} listings ranked, {done.moved} moved, {done.recounted} with new purchases.")

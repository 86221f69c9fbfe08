"""`manage.py mark_popular_listings`: mark the best-selling listings for search."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.search.popular import update_popular
from catalog.services.purchase_counts import count_purchases
from marketplace.ui.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Count new purchases, then mark the best-selling listings, among which search looks for common words. New listings lose their "
        "initial boost at the next run. Writes only what has changed. The worker runs this hourly. Safe to run at any time, also in "
        "parallel: searches continue, and publishing waits for one batch at most."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        with progress_bar() as bar:
            counting = bar.add_task("Purchases", total=None)
            count_purchases(progress=lambda count, total: bar.update(counting, completed=count, total=total))
            task = bar.add_task("Listings", total=None)
            changed, listings = update_popular(lambda count, total: bar.update(task, completed=count, total=total))
        self.stdout.write(f"{changed} of {listings} listings changed.")

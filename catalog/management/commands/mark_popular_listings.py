"""`manage.py mark_popular_listings`: mark the best-selling listings for search."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.search.popular import update_popular
from catalog.services.purchase_counts import count_purchases


class Command(BaseCommand):
    help = (
        "Count new purchases, then mark the best-selling listings, among which search looks for common words. New listings lose their "
        "initial boost at the next run. Writes only what has changed. The worker runs this hourly. Safe to run at any time, also in "
        "parallel: searches continue, and publishing waits for one batch at most."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        count_purchases()
        changed, listings = update_popular()
        self.stdout.write(f"{changed} of {listings} listings changed.")

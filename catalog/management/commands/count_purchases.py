"""`manage.py count_purchases`: add new purchases and refunds to the popularity of listings."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.services.purchase_counts import count_purchases
from marketplace.ui.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Add new purchases and refunds to the popularity of listings. Sales only record them, so that buyers of one listing do not "
        "wait for each other. The worker runs this every two minutes. Safe to run at any time, also in parallel. mark_popular_listings "
        "includes it."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        with progress_bar() as bar:
            task = bar.add_task("Listings", total=None)
            listings = count_purchases(progress=lambda done, total: bar.update(task, completed=done, total=total))
        self.stdout.write(f"Counted new purchases of {listings} listings.")

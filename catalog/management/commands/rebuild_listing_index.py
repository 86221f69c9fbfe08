"""`manage.py rebuild_listing_index`: correct the browse index."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.services.listing_index import rebuild
from marketplace.ui.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Check the tables and counts that browsing reads against the listings, and correct them. Run it when in doubt, or after "
        "changing rows directly in the database. Safe to run at any time, also in parallel: changes to the catalog wait for one batch "
        "at most."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        with progress_bar() as bar:
            task = bar.add_task("Listings", total=None)
            listings, counts = rebuild(lambda done, total: bar.update(task, completed=done, total=total))
        self.stdout.write(f"Corrected {listings} listings and {counts} counts.")

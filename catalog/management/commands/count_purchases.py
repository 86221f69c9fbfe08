"""manage.py count_purchases."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.services.popularity import count_purchases
from marketplace.core.commands import progress_bar


class Command(BaseCommand):
    """Brings popularity up to date."""

    help = (
        "Add new purchases and refunds to the listings' popularity: sales only note them, so that buyers of one listing do not wait "
        "for each other. Run it every minute or two; at any time, also twice at once. rank_listings does it too."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Count with a progress bar."""
        with progress_bar() as bar:
            task = bar.add_task("Listings", total=None)
            listings = count_purchases(progress=lambda done, total: bar.update(task, completed=done, total=total))
        self.stdout.write(f"New purchases of {listings} listings counted.")

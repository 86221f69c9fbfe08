"""`manage.py rebuild_shelf`: correct the read model of browsing."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.services.shelf import rebuild
from marketplace.core.commands import progress_bar


class Command(BaseCommand):
    """Corrects the read model of browsing."""

    help = (
        "Check every listing for sale against the rows and counts that browsing reads, and write what differs: after rows were changed "
        "past the service, or on a doubt. Safe at any time, and twice at once: changes of the catalog wait for a batch at most."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Check with a progress bar."""
        with progress_bar() as bar:
            task = bar.add_task("Listings", total=None)
            listings, counts = rebuild(lambda done, total: bar.update(task, completed=done, total=total))
        self.stdout.write(f"{listings} listings and {counts} counts were wrong and are right now.")

"""`manage.py rebuild_search`: correct the search index."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.search.rebuild import rebuild
from marketplace.ui.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Check every published listing against the search index, write what differs, recount the vocabulary and mark the popular "
        "listings. Safe to run at any time: the service stays available, and publishing waits for one batch at most. Run it after an "
        "upgrade that changes how words are normalised."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        with progress_bar() as bar:
            task = bar.add_task("Listings", total=None)
            listings, documents, words = rebuild(lambda count, total: bar.update(task, completed=count, total=total))
        self.stdout.write(f"{listings} listings checked; {documents} documents and {words} words corrected.")

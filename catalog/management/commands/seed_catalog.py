"""manage.py seed_catalog."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalog.models import Listing
from catalog.search.rebuild import rebuild
from catalog.seeding import SeedPresent, fill
from marketplace.core.commands import progress_bar

MOST = 5_000_000


class Command(BaseCommand):
    """Fills the catalog with made-up listings, for measurements."""

    help = (
        "Write made-up published listings with vendors, files, prices, tags and purchases, and make them findable: for measurements, "
        "not for a shop that sells. The same seed gives the same listings. A catalog that has listings is left alone unless --yes is given."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how many, which, and leave to mix them with others."""
        parser.add_argument("--listings", type=int, required=True, help=f"how many, up to {MOST:,}")
        parser.add_argument("--seed", type=int, default=1, help="another seed gives other listings (1)")
        parser.add_argument("--yes", action="store_true", help="write them beside the listings that are there")
        parser.add_argument("--without-search", action="store_true", help="leave the search index to a later rebuild_search")

    def handle(self, *_args: Any, listings: int, seed: int, yes: bool, without_search: bool, **_options: Any) -> None:
        """Write the listings with a progress bar."""
        if not 1 <= listings <= MOST:
            raise CommandError(f"--listings takes 1 to {MOST:,}.")
        if seed < 0:
            raise CommandError("--seed takes a number from 0.")
        if not yes and Listing.objects.exists():
            raise CommandError("This catalog has listings. Made-up ones would be sold beside them: give --yes if that is what you want.")
        with progress_bar() as bar:
            task = bar.add_task("Listings", total=listings)
            try:
                filled = fill(listings=listings, seed=seed, progress=lambda done, total: bar.update(task, completed=done, total=total))
            except SeedPresent as error:
                raise CommandError(f"The listings of seed {seed} are there already; take another --seed.") from error
            if not without_search:
                indexed = bar.add_task("Search index", total=listings)
                rebuild(lambda done, total: bar.update(indexed, completed=done, total=total))
        self.stdout.write(f"{filled.listings} listings of {filled.stores} vendors written.")

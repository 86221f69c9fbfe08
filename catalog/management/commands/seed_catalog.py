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
        "Fill the catalog with generated listings that have vendors, files, prices, tags and purchases, and index them: for "
        "benchmarks, not for a real shop. The same seed gives the same listings. Refuses to add to existing listings unless --yes is "
        "given."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how many, which, and leave to mix them with others."""
        parser.add_argument("--listings", type=int, required=True, help=f"number of listings, up to {MOST:,}")
        parser.add_argument("--seed", type=int, default=1, help="seed of the generator (default 1)")
        parser.add_argument("--yes", action="store_true", help="add to existing listings")
        parser.add_argument("--without-search", action="store_true", help="don't index them; run rebuild_search later")

    def handle(self, *_args: Any, listings: int, seed: int, yes: bool, without_search: bool, **_options: Any) -> None:
        """Write the listings with a progress bar."""
        if not 1 <= listings <= MOST:
            raise CommandError(f"--listings must be between 1 and {MOST:,}.")
        if seed < 0:
            raise CommandError("--seed must be 0 or greater.")
        if not yes and Listing.objects.exists():
            raise CommandError(
                "The catalog already has listings, and generated ones would be on sale beside them. Add --yes if that is what you want."
            )
        with progress_bar() as bar:
            task = bar.add_task("Listings", total=listings)
            try:
                filled = fill(listings=listings, seed=seed, progress=lambda done, total: bar.update(task, completed=done, total=total))
            except SeedPresent as error:
                raise CommandError(f"The listings of seed {seed} already exist; choose another --seed.") from error
            if not without_search:
                indexed = bar.add_task("Search index", total=listings)
                rebuild(lambda done, total: bar.update(indexed, completed=done, total=total))
        self.stdout.write(f"Created {filled.listings} listings of {filled.stores} vendors.")

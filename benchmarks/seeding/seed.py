"""Fills a database with made-up listings: `python -m benchmarks.inside benchmarks.seeding.seed --listings 10000`.

They have vendors, files, prices, tags and purchases, and are indexed. For measurements, not for a real shop.
"""

import argparse

from catalog.models import Listing
from catalog.search.rebuild import rebuild
from marketplace.ui.progress import progress_bar

from .fill import SeedPresent, fill


def main(*words: str) -> None:
    """Write the listings with a progress bar.

    Raises:
        SystemExit: the catalog already has listings and `--yes` is not given, or those of this seed exist.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inside benchmarks.seeding.seed", description=__doc__)
    parser.add_argument("--listings", type=int, required=True, help="number of listings")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generator (1); the same one gives the same listings")
    parser.add_argument("--yes", action="store_true", help="add to existing listings")
    parser.add_argument("--without-search", action="store_true", help="don't index them; run rebuild_search later")
    given = parser.parse_args(words)
    if not given.yes and Listing.objects.exists():
        raise SystemExit(
            "The catalog already has listings, and made-up ones would be on sale beside them. Add --yes if that is what you want."
        )
    with progress_bar() as bar:
        task = bar.add_task("Listings", total=given.listings)
        try:
            stores = fill(
                listings=given.listings, seed=given.seed, progress=lambda done, total: bar.update(task, completed=done, total=total)
            )
        except SeedPresent as error:
            raise SystemExit(f"The listings of seed {given.seed} already exist; choose another --seed.") from error
        if not given.without_search:
            indexed = bar.add_task("Search index", total=given.listings)
            rebuild(lambda done, total: bar.update(indexed, completed=done, total=total))
    print(f"Created {given.listings} listings of {stores} vendors.")

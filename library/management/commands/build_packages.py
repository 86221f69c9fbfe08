"""`manage.py build_packages`: build download packages in advance, and delete unused ones."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.progress import Progress

from catalog.selectors.listings import listings_on_sale
from library.services.building import (
    DamagedFile,
    delete_built_package,
    find_orphaned_keys,
    find_packages_on_sale,
    find_unused_packages,
    prepare_packages,
)
from marketplace.core.errors import DependencyUnavailable
from marketplace.storage import default_storage
from marketplace.ui.progress import progress_bar

# Exit statuses.
DAMAGED, NOT_DONE = 1, 2
LONGEST_DAYS = 3650


class Command(BaseCommand):
    help = (
        "Prepare the download packages of all listings on sale: each file is read once for its checksum, and on S3 the packages are "
        "built. Publishing does this too; the worker runs this hourly for listings whose readme or licence has changed since. Safe to "
        "interrupt, to repeat and to run in parallel. Exit status: 0 all are ready, 1 a stored file is damaged or missing, 2 the file "
        "store cannot be used, or an option is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--listing", metavar="SLUG", help="Only this listing.")
        parser.add_argument(
            "--prune",
            metavar="DAYS",
            type=int,
            help="Instead, delete packages that are not on sale and for which no link was issued for this many days.",
        )
        parser.add_argument("--dry-run", action="store_true", help="With --prune: only list them.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["dry_run"] and options["prune"] is None:
            raise CommandError("--dry-run can only be used with --prune.", returncode=NOT_DONE)
        if options["prune"] is not None and not 1 <= options["prune"] <= LONGEST_DAYS:
            raise CommandError(f"--prune must be from 1 to {LONGEST_DAYS} days (ten years).", returncode=NOT_DONE)
        try:
            with progress_bar() as progress:
                if options["prune"] is not None:
                    self._prune(timedelta(days=options["prune"]), progress, dry_run=options["dry_run"])
                else:
                    self._build(options["listing"], progress)
        except DependencyUnavailable as problem:
            raise CommandError(problem.message, returncode=NOT_DONE) from problem

    def _build(self, slug: str | None, progress: Progress) -> None:
        listings = listings_on_sale().select_related("approved_deliverable", "store")
        if slug is not None:
            listings = listings.filter(slug=slug)
        total = listings.count()
        if slug is not None and not total:
            raise CommandError(f"No listing with the slug {slug} is on sale.", returncode=NOT_DONE)
        ready, damaged = 0, []
        for listing in progress.track(listings.iterator(chunk_size=500), total=total, description="Packages"):
            try:
                ready += len(prepare_packages(packages=find_packages_on_sale(listing)))
            except (DamagedFile, FileNotFoundError):
                damaged.append(listing.slug)
        self.stdout.write(f"{ready} packages of {total} listings are ready.")
        if damaged:
            raise CommandError(f"The stored files of these listings are damaged or missing: {', '.join(damaged)}.", returncode=DAMAGED)

    def _prune(self, age: timedelta, progress: Progress, *, dry_run: bool) -> None:
        done = "would be removed" if dry_run else "removed"
        unused = orphaned = 0
        task = progress.add_task("Packages", total=None)
        for package in find_unused_packages(since=timezone.now() - age):
            self.stdout.write(f"unused, {done}: {package.object_key}")
            if not dry_run:
                delete_built_package(package=package)
            unused += 1
            progress.advance(task)
        for key in find_orphaned_keys():
            self.stdout.write(f"no record, {done}: {key}")
            if not dry_run:
                default_storage.delete(key)
            orphaned += 1
            progress.advance(task)
        self.stdout.write(f"{unused} unused packages and {orphaned} without a record {done}.")

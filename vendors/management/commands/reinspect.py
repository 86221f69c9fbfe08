"""`manage.py reinspect`: inspect stored deliverables again with the current inspector."""

import uuid
from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.core.errors import NotFound
from marketplace.ui.progress import progress_bar

from ...inspection import FORMATS
from ...services.reinspecting import FAILURES, ReinspectOutcome, find_deliverable_ids, reinspect

# A single failure may be one unreadable file; this many in a row mean that the file store is unavailable.
UNREADABLE_IN_A_ROW = 3


class Command(BaseCommand):
    help = (
        "Inspect stored files again and update the technical details that differ from those recorded at upload. Files are only read. "
        "Manifests made from the old details become stale, and are updated when they are next generated. Safe to run beside "
        "uploads and in parallel. Fails if a file is missing, unreadable or would be refused today; its recorded details are kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--format", action="append", default=[], choices=sorted(FORMATS), help="Only files of this format; can be repeated."
        )
        parser.add_argument("--listing", help="Only the files of this listing, by id or slug.")
        parser.add_argument("--dry-run", action="store_true", help="Show what would change, change nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            ids = find_deliverable_ids(formats=options["format"], listing=options["listing"])
        except NotFound:
            ids = []
        if not ids and options["listing"] is not None:
            raise CommandError(f"The listing {options['listing']} has no such files.")
        counts, stale = self._inspect(ids, dry_run=options["dry_run"])
        summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ReinspectOutcome if counts[outcome])
        effect = " (nothing was recorded)" if options["dry_run"] else f"; {stale} manifests are stale"
        self.stdout.write(f"{counts.total()} files: {summary or 'none'}{effect}.")
        failures = sum(counts[outcome] for outcome in FAILURES)
        if failures:
            raise CommandError(f"{failures} files could not be inspected, or would be refused today.")

    def _inspect(self, ids: list[uuid.UUID], *, dry_run: bool) -> tuple[Counter[ReinspectOutcome], int]:
        counts, stale, unreadable = Counter[ReinspectOutcome](), 0, 0
        with progress_bar() as progress:
            for deliverable_id in progress.track(ids, description="Inspecting"):
                result = reinspect(deliverable_id=deliverable_id, dry_run=dry_run)
                counts[result.outcome] += 1
                stale += result.stale_manifest
                if result.detail:
                    self.stdout.write(f"{result.outcome}: {deliverable_id}: {result.detail}")
                unreadable = unreadable + 1 if result.outcome == ReinspectOutcome.UNREADABLE else 0
                if unreadable == UNREADABLE_IN_A_ROW:
                    raise CommandError(f"The file store cannot be read: {result.detail}")
        return counts, stale

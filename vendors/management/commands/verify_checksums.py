"""`manage.py verify_checksums`: read stored files and compare their size and SHA-256 with the database."""

import time
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.progress import DownloadColumn, TextColumn, TimeElapsedColumn, TransferSpeedColumn

from catalog.models import Listing, Store, StorePicture
from marketplace.core.bounds import MIB
from marketplace.core.errors import DependencyUnavailable
from marketplace.ui.progress import progress_bar
from vendors.services.files import StoredRow
from vendors.services.verifying import OnBytes, StoredState, find_unverified, is_recorded, verify

DAMAGED, NOT_DONE = 1, 2
UNREADABLE = "unreadable"
# A single failure may be one unreadable file; this many in a row mean that the file store is unavailable.
UNREADABLE_IN_A_ROW = 3


class Command(BaseCommand):
    help = (
        "Read stored files, previews and pictures and compare size and SHA-256 with their records, starting with those not verified for the "
        "longest time. Results are saved as it goes, so an interrupted run continues when you pass the same --since. Safe to run "
        "beside uploads and in parallel. Exit status: 0 all match, 1 a stored file does not match its record or could not be read (each is "
        "listed), 2 the file store cannot be used."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--since",
            type=moment,
            help="Only files not verified since this date or time, such as 2026-01-31 or 2026-01-31T08:00Z (default: now).",
        )
        parser.add_argument("--limit", type=above_zero, help="Verify at most this many records.")
        parser.add_argument("--rate", type=above_zero, help="Read at most this many MiB per second.")

    def handle(self, *args: Any, **options: Any) -> None:
        pace, counts = Pace(options["rate"]), Counter[str]()
        columns = (TextColumn("{task.description}"), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeElapsedColumn())
        with progress_bar(*columns) as progress:
            task = progress.add_task("Verifying", total=None)

            def on_bytes(count: int) -> None:
                progress.advance(task, count)
                pace.keep(count)

            since = options["since"] or timezone.now()
            self._verify(islice(find_unverified(before=since), options["limit"]), on_bytes, counts)
        states = (*StoredState, UNREADABLE)
        summary = ", ".join(f"{counts[state]} {state}" for state in states)
        self.stdout.write(f"{counts.total()} records: {summary}; {pace.total / MIB:.1f} MiB read in {pace.seconds:.1f} s.")
        if counts.total() != counts[StoredState.INTACT]:
            raise CommandError(
                "Stored files do not match their records, or could not be read; they are listed above. Restore those that are missing or "
                "different from a backup, and run the command again for those that are unreadable.",
                returncode=DAMAGED,
            )

    def _verify(self, rows: Iterator[StoredRow], on_bytes: OnBytes, counts: Counter[str]) -> None:
        in_a_row = 0
        for row in rows:
            try:
                state, in_a_row = str(verify(row=row, on_bytes=on_bytes)), 0
            except DependencyUnavailable as problem:
                state, in_a_row = UNREADABLE, in_a_row + 1
                if in_a_row == UNREADABLE_IN_A_ROW:
                    raise CommandError(problem.message, returncode=NOT_DONE) from problem
            if state != StoredState.INTACT:
                if not is_recorded(row=row):
                    continue
                self.stdout.write(f"{state}: {row.object_key} ({row._meta.verbose_name} {row.pk} of {_owner(row).slug})")
            counts[state] += 1


class Pace:
    """Limits the rate of reading: counts the bytes and sleeps when they were read too fast."""

    def __init__(self, mib_per_second: int | None) -> None:
        self.total = 0
        self._bytes_per_second = mib_per_second and mib_per_second * MIB
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._began

    def keep(self, count: int) -> None:
        """Count bytes that were read, and sleep until the rate permits more."""
        self.total += count
        ahead = self.total / self._bytes_per_second - self.seconds if self._bytes_per_second else 0
        if ahead > 0:
            time.sleep(ahead)


def _owner(row: StoredRow) -> Listing | Store:
    return row.store if isinstance(row, StorePicture) else row.listing


def moment(text: str) -> datetime:
    """Parse an option that is a date or a time."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} is not a date or time such as 2026-01-31 or 2026-01-31T08:00Z.") from error
    return at if timezone.is_aware(at) else timezone.make_aware(at)


def above_zero(text: str) -> int:
    """Parse an option that is a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a whole number above 0.")
    return int(text)

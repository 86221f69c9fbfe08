"""`manage.py purge_usage`: remove usage that is older than 13 months."""

import datetime as dt
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from developers.usage.rows import KEPT_MONTHS, count_old_rows, oldest_kept, remove_old_rows


class Command(BaseCommand):
    """Removes old usage."""

    help = f"Remove the daily usage of keys and apps that is older than {KEPT_MONTHS} months. Run it daily or monthly."

    def add_arguments(self, parser: CommandParser) -> None:
        """Offer a rehearsal."""
        parser.add_argument("--dry-run", action="store_true", help="count the rows, remove none")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Remove, or count."""
        first = oldest_kept(dt.datetime.now(tz=dt.UTC).date())
        if options["dry_run"]:
            self.stdout.write(f"{count_old_rows(first)} rows from before {first} would be removed.")
        else:
            self.stdout.write(f"{remove_old_rows(first)} rows from before {first} removed.")

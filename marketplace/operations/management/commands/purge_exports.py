"""`manage.py purge_exports`: remove copies of accounts' data that have expired."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from marketplace.operations.models import AccountExport


class Command(BaseCommand):
    """Removes expired copies."""

    help = "Remove the copies of their data that users asked for and that have expired. The schedule runs it daily."

    def add_arguments(self, parser: CommandParser) -> None:
        """Offer a rehearsal."""
        parser.add_argument("--dry-run", action="store_true", help="count the copies, remove none")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Remove, or count."""
        expired = AccountExport.objects.filter(expires_at__lte=timezone.now())
        count = expired.count() if options["dry_run"] else expired.delete()[0]
        self.stdout.write(f"{count} copies {'would be ' if options['dry_run'] else ''}removed.")

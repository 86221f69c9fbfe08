"""`manage.py purge`: everything that has expired, in one go."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

# Each says itself what it removes; each has a rehearsal.
COMMANDS = ("purge_tokens", "purge_wallet", "purge_usage", "purge_webhooks", "purge_jobs", "purge_exports")


class Command(BaseCommand):
    """Removes what has expired."""

    help = (
        f"Remove expired sessions, then run {', '.join(COMMANDS)} and sweep_objects --delete: codes and tokens, quotes and answers to "
        "Idempotency-Keys, usage, webhook deliveries, finished jobs, copies of accounts that expired, files that no record names and unfinished uploads. One that fails does not keep the "
        "others from running. With --dry-run all is counted and nothing removed. The worker runs the parts by itself, every day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer a rehearsal."""
        parser.add_argument("--dry-run", action="store_true", help="count, remove nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Remove, or count."""
        dry = options["dry_run"]
        failed = []
        for name in ("sessions", *COMMANDS, "sweep_objects"):
            self.stdout.write(self.style.MIGRATE_HEADING(name))
            try:
                self._run(name, dry=dry)
            except CommandError as error:
                self.stderr.write(str(error))
                failed.append(name)
        if failed:
            raise CommandError(f"Not done: {', '.join(failed)}.")

    def _run(self, name: str, *, dry: bool) -> None:
        streams = {"stdout": self.stdout, "stderr": self.stderr}
        if name == "sessions":
            expired = Session.objects.filter(expire_date__lt=timezone.now())
            count = expired.count() if dry else expired.delete()[0]
            self.stdout.write(f"{count} sessions {'would be ' if dry else ''}removed.")
        elif name == "sweep_objects":
            call_command(name, delete=not dry, **streams)
        else:
            call_command(name, dry_run=dry, **streams)

"""`manage.py purge`: delete everything that has expired."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

# All of them take --dry-run.
COMMANDS = ("purge_tokens", "purge_wallet", "purge_usage", "purge_webhooks", "purge_jobs", "purge_exports")


class Command(BaseCommand):
    help = (
        f"Delete expired sessions, then run {', '.join(COMMANDS)} and "
        "sweep_objects --delete: expired codes and tokens, quotes and stored responses, old usage, webhook deliveries, finished jobs, "
        "expired account exports, files without a record and unfinished uploads. If one fails, the others still run. With --dry-run "
        "rows are counted, not deleted. The worker runs all but the deletion of sessions daily; run this one from cron for it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count, delete nothing")

    def handle(self, *args: Any, **options: Any) -> None:
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
            self.stdout.write(f"{count} sessions {'would be ' if dry else ''}deleted.")
        elif name == "sweep_objects":
            call_command(name, delete=not dry, hours=72, **streams)
        else:
            call_command(name, dry_run=dry, **streams)

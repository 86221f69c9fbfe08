"""`manage.py restore`: restore a backup into the database and file store of the settings."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.operations import backups
from marketplace.operations.dumps import BackupFailed
from marketplace.ui.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Restore a backup into the configured database and file store. Stop all servers and workers first. The database must be empty "
        "unless --replace is given. Afterwards run migrate (the backup may be older than the code), reconcile and doctor."
    )
    # There may be no tables to check.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("backup", type=Path, metavar="BACKUP", help="a folder printed by `backup`")
        parser.add_argument("--replace", action="store_true", help="drop the existing tables")
        parser.add_argument("--dry-run", action="store_true", help="show what the backup contains, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["dry_run"]:
                self._print(backups.read_manifest(options["backup"]), "would be restored")
                return
            with progress_bar() as progress:
                task = progress.add_task("Objects", total=None)
                manifest = backups.restore(options["backup"], replace=options["replace"], report=lambda: progress.advance(task))
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from error
        self._print(manifest, "restored; now run migrate, reconcile and doctor")

    def _print(self, manifest: backups.Manifest, what: str) -> None:
        self.stdout.write(f"{manifest.engine} of {manifest.made_at:%Y-%m-%d %H:%M} UTC, {max(manifest.objects, 0)} objects: {what}.")

"""`manage.py backup`: back up the database and every stored object."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.operations import backups
from marketplace.operations.dumps import BackupFailed
from marketplace.ui.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Create a backup in a new folder inside DIR: a consistent copy of the database, made beside the running service with SQLite's "
        "online backup or pg_dump (which must be installed), and every stored file. All backups in DIR share the files, so a later "
        "backup copies only new ones. SECRET_KEY and CERTIFICATE_KEY are not included; keep them elsewhere."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the backups; created if missing")
        parser.add_argument("--no-objects", action="store_true", help="back up the database only; the files are backed up by other means")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with progress_bar() as progress:
                task = progress.add_task("Objects", total=None)
                backup = backups.make(options["folder"], objects=not options["no_objects"], report=lambda: progress.advance(task))
        except (BackupFailed, OSError) as error:
            raise CommandError(str(error)) from error
        manifest = backups.read_manifest(backup)
        objects = "without objects" if manifest.objects < 0 else f"with {manifest.objects} objects"
        self.stdout.write(self.style.SUCCESS(f"{backup}: {(backup / manifest.database).stat().st_size:,} bytes of database, {objects}."))

"""`manage.py sandbox_reset`: empty a sandbox, an installation for tests (`SANDBOX`), and fill it with the demo's content."""

import shutil
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.core.checks import Tags
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connection

from marketplace.operations.backups import PREFIXES
from marketplace.operations.dumps import BackupFailed, clear
from marketplace.storage import default_storage
from marketplace.ui.progress import progress_bar
from wallet.models import Approval
from wallet.providers import has_top_ups_of_real_providers

from ...content import make_content
from ...entries import load_entries
from ...output import credentials_path
from .quickstart import confirmed


class Command(BaseCommand):
    help = (
        "Delete all data, files and mails of a sandbox and fill it with the demo's content. Stop its server first. Refuses to run "
        "where SANDBOX is not on, and where the database is that of a real marketplace."
    )
    # There may be no tables to check.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", "--no-input", action="store_true", dest="yes", help="don't ask for confirmation")
        parser.add_argument("--if-empty", action="store_true", help="delete nothing: fill the sandbox if it is empty or only half filled")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.SANDBOX:
            raise CommandError("This is not a sandbox: nothing was deleted. Only where SANDBOX is on can all data be deleted.")
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        if has_top_ups_of_real_providers():
            raise CommandError("The database has top-ups of a real provider: nothing was deleted. Give the sandbox a database of its own.")
        if not options["if_empty"]:
            if not options["yes"] and not confirmed(f"Delete all data of the sandbox at {settings.BASE_URL}?"):
                raise CommandError("Nothing was deleted. Use --yes to skip the confirmation.")
            try:
                _delete()
            except BackupFailed as error:
                raise CommandError(str(error)) from error
        elif connection.introspection.table_names():
            call_command("migrate", verbosity=0, interactive=False)
            # The demo's approval is made last: without one, an earlier run was interrupted.
            if Approval.objects.exists():
                self.stdout.write("The sandbox has content already. Nothing was deleted.")
                return
        entries = load_entries()
        make_content(entries, settings.BASE_URL)
        self.stdout.write(f"The sandbox has {len(entries)} listings. Who can sign in, with which keys: {credentials_path()}")


def _delete() -> None:
    """Delete all data. The database comes last: an interrupted run can be repeated."""
    shutil.rmtree(settings.EMAIL_FILE_PATH, ignore_errors=True)
    credentials_path().unlink(missing_ok=True)
    with progress_bar() as progress:
        for prefix in PREFIXES:
            keys = [key for key, _written in default_storage.keys_with_times(prefix)]
            for key in progress.track(keys, description=f"Deleting {prefix}"):
                default_storage.delete(key)
    for cache in caches.all():
        cache.clear()
    clear()

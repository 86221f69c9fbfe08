"""`manage.py export_account`: write everything about a user as JSON."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from marketplace.accounts.models import User
from marketplace.operations.personal_data import export_lines


class Command(BaseCommand):
    help = (
        "Write everything that is stored about a user as JSON, for a user who has asked for it. Secrets are left out. Nothing is changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="write to this new file, readable by its owner only; printed if left out"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email=options["email"].lower()).first()
        if user is None:
            raise CommandError(f"There is no user {options['email']}.")
        if options["output"] is None:
            for line in export_lines(user):
                self.stdout.write(line, ending="")
            return
        try:
            descriptor = os.open(options["output"], os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    file.writelines(export_lines(user))
            except BaseException:
                # An incomplete file would block the next attempt, and contains personal data.
                options["output"].unlink()
                raise
        except OSError as error:
            raise CommandError(f"{options['output']} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"Written to {options['output']}.")

"""`manage.py mail_dormant_keys`: mail the owners of keys that have not been used for 90 days."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from developers.services.dormancy import mail_dormant_key, unnotified_keys
from marketplace.ui.progress import progress_bar


class Command(BaseCommand):
    help = (
        "Mail the owner of each active API key that has not been used for 90 days, once per idle period. Nothing is revoked. The "
        "worker runs this daily. With --dry-run the keys are listed and no email is sent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="list the keys without sending mails")

    def handle(self, *_args: Any, **options: Any) -> None:
        keys = list(unnotified_keys())
        if options["dry_run"]:
            for key in keys:
                self.stdout.write(f"{key.app.developer.email}: {key.app.name}, key {key}")
            self.stdout.write(f"Would send {len(keys)} mails.")
            return
        with progress_bar() as progress:
            mailed = sum(mail_dormant_key(key=key, actor=None) for key in progress.track(keys, description="Keys"))
        self.stdout.write(f"Sent {mailed} mails.")

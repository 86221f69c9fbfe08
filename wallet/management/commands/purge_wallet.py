"""`manage.py purge_wallet`: remove quotes that expired unused, and answers that are kept no longer."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from marketplace.core import bounds
from wallet.services.idempotency import expired_answers
from wallet.services.quotes import forgotten_quotes


class Command(BaseCommand):
    """Removes what nobody can use any more."""

    help = f"Remove quotes that expired unused a day ago, and answers to Idempotency-Keys older than {bounds.IDEMPOTENCY_HOURS} hours. Run it daily."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer a rehearsal."""
        parser.add_argument("--dry-run", action="store_true", help="count them, remove none")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Remove, or count."""
        quotes, answers = forgotten_quotes(), expired_answers()
        if options["dry_run"]:
            self.stdout.write(f"{quotes.count()} expired quotes and {answers.count()} old answers would be removed.")
        else:
            (removed_quotes, _), (removed_answers, _) = quotes.delete(), answers.delete()
            self.stdout.write(f"{removed_quotes} expired quotes and {removed_answers} old answers removed.")

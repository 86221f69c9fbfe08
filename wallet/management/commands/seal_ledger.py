"""`manage.py seal_ledger`: put what the ledger gained under the next seals."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from marketplace.core.commands import progress_bar
from wallet.models import LedgerSeal
from wallet.services.sealing import GRACE, seal_ledger, unsealed_journals


class Command(BaseCommand):
    """Seals the ledger."""

    help = (
        "Chain the digests of the ledger's new journals, so that reconcile finds a row that was changed, removed or slipped in. "
        "Run it often; it may be stopped, repeated, and run beside itself and beside sales. "
        "Keep the digest that it prints somewhere else, and give it to reconcile --seal: whoever owns the database could make every seal anew."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Seal, and tell the last seal."""
        until = timezone.now() - GRACE
        journals = seals = 0
        with progress_bar() as progress:
            task = progress.add_task("Journals", total=unsealed_journals(until=until).count())
            for seal in seal_ledger(until=until):
                journals, seals = journals + seal.journals, seals + 1
                progress.advance(task, seal.journals)
        self.stdout.write(f"{journals} journals sealed under {seals} new seals.")
        last = LedgerSeal.objects.last()
        if last is not None:
            self.stdout.write(f"Last seal: {last.number}:{last.digest}")

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
        "Add the ledger's new journals to its hash chain, so that reconcile detects changed, removed or inserted rows. The worker runs "
        "this hourly. Safe to interrupt, to repeat and to run in parallel and beside sales. Store the printed seal somewhere else and "
        "pass it to reconcile --seal: someone who controls the database could recreate the whole chain."
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
        self.stdout.write(f"Sealed {journals} journals with {seals} new seals.")
        last = LedgerSeal.objects.last()
        if last is not None:
            self.stdout.write(f"Last seal: {last.number}:{last.digest}")

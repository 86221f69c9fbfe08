"""`manage.py digest_ledger`: add digests for new journals."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from marketplace.ui.progress import progress_bar

from ...models import LedgerDigest
from ...services.digests import GRACE, digest_ledger, uncovered_journals


class Command(BaseCommand):
    help = (
        "Add the ledger's new journals to its hash chain, so that reconcile detects changed, removed or inserted rows. The worker runs "
        "this hourly. Safe to interrupt, to repeat and to run in parallel and beside sales. Store the printed digest somewhere else and "
        "pass it to reconcile --digest: someone who controls the database could recreate the whole chain."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        until = timezone.now() - GRACE
        journals = ledger_digests = 0
        with progress_bar() as progress:
            task = progress.add_task("Journals", total=uncovered_journals(until=until).count())
            for ledger_digest in digest_ledger(until=until):
                journals, ledger_digests = journals + ledger_digest.journals, ledger_digests + 1
                progress.advance(task, ledger_digest.journals)
        self.stdout.write(f"Covered {journals} journals with {ledger_digests} new digests.")
        last = LedgerDigest.objects.last()
        if last is not None:
            self.stdout.write(f"Last digest: {last.number}:{last.digest}")
